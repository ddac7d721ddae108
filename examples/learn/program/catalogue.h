#pragma once
// The texts of an exercise in another language: docs/languages/LANGUAGE/learn/NN_name.po
// (docs/translations.md), and the texts shared by all exercises: program.po.

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gradus::learn {

/// The translations in .po files; without a file there are none. Fuzzy ones are ignored.
class Catalogue {
 public:
  Catalogue() = default;
  explicit Catalogue(const std::filesystem::path& file) { add(file); }
  void add(const std::filesystem::path& file);

  /// The translation of a paragraph, or the paragraph itself.
  const std::string& operator()(const std::string& paragraph) const;
  /// One of the program's own phrases, with its {words} replaced by numbers and names.
  /// docs/site/paragraphs.py finds the phrases by this name.
  template <class... Args>
  std::string phrase(const std::string& source, Args&&... args) const {
    return fmt::format(fmt::runtime((*this)(source)), std::forward<Args>(args)...);
  }

 private:
  std::map<std::string, std::string> entries_;
};

/// The folder of a language's catalogues inside `languages`: that of `wanted`, which must exist, or, if that
/// is empty, that of the system's language. Empty if the language is English or has no catalogues.
std::filesystem::path language_folder(const std::filesystem::path& languages, const std::string& wanted);

/// The paragraphs of a stub's opening comment, without formulas, which are indented.
std::vector<std::string> explanation(const std::string& stub);

}  // namespace gradus::learn
