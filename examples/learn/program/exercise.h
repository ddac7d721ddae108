#pragma once
// The exercises: the contents of examples/course/NN_name.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "learn/program/catalogue.h"

namespace gradus::learn {

struct Exercise {
  std::string name;  // "11_layer_norm"
  int number = 0;
  std::filesystem::path folder;
  std::string title, note;
  std::vector<std::string> forbidden, allowed;
  std::vector<std::string> hints;                 // three: the idea, the equation, the line
  std::vector<std::filesystem::path> catalogues;  // of the learner's language; empty: English
  Catalogue words;                                // all texts of the exercise, and the program's phrases

  /// The number as typed: "11".
  std::string typed() const { return std::to_string(number); }
};

/// All exercises of a folder, by number; throws an Error that names an incomplete file. `language`: the
/// folder of a language's catalogues; without one everything is English.
std::vector<Exercise> exercises(const std::filesystem::path& folder,
                                const std::filesystem::path& language = {});
/// The one called "11", "11_layer_norm" or "layer_norm"; throws if there is none.
const Exercise& find(const std::vector<Exercise>& all, const std::string& wanted);

/// A whole file; throws, naming it, if it cannot be read, is a pipe or a device, or has more than 1 MiB.
std::string text_of(const std::filesystem::path& path);
/// The JSON of a file; throws an Error that names it.
nlohmann::json json_of(const std::filesystem::path& path);

}  // namespace gradus::learn
