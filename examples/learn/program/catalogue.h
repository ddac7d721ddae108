#pragma once
// What an exercise says in another language: docs/languages/LANGUAGE/learn/NN_name.po (docs/translations.md),
// and what the program says of all of them: program.po.

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gradus::learn {

/// The translations of .po files; without a file there are none. Those marked as fuzzy do not count.
class Catalogue {
 public:
  Catalogue() = default;
  explicit Catalogue(const std::filesystem::path& file) { add(file); }
  void add(const std::filesystem::path& file);

  /// The translation of a paragraph, or the paragraph itself.
  const std::string& operator()(const std::string& paragraph) const;
  /// One of the program's own phrases, with numbers and names in place of its {words}.
  /// docs/site/paragraphs.py finds the phrases by this name.
  template <class... Args>
  std::string phrase(const std::string& source, Args&&... args) const {
    return fmt::format(fmt::runtime((*this)(source)), std::forward<Args>(args)...);
  }

 private:
  std::map<std::string, std::string> entries_;
};

/// The folder of a language's catalogues inside `languages`: of `wanted`, which must be there, or, where that
/// is empty, of the system's language. Empty when the language is English or has none.
std::filesystem::path language_folder(const std::filesystem::path& languages, const std::string& wanted);

/// The paragraphs of a stub's opening comment; formulas, which are indented, are left out.
std::vector<std::string> explanation(const std::string& stub);

}  // namespace gradus::learn
