#pragma once
// What a learner has done: my/NN_name.json.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "learn/program/exercise.h"

namespace gradus::learn {

class Progress {
 public:
  /// `folder`: the learner's. Throws an Error that names the file when it is not what this class writes.
  Progress(const Exercise& exercise, const std::filesystem::path& folder);

  /// The learner's own file, "my/11_layer_norm.h".
  const std::filesystem::path& answer() const { return answer_; }
  bool begun() const { return std::filesystem::exists(answer_); }

  // Each of these changes is in the file at once. Those that another ./run learn has made meanwhile stay.
  void set_cases(int passed, int all);
  /// The answer is another one now, which was not graded.
  void forget_cases();
  bool done() const;
  /// "3 of 5 cases", or what else is to be said.
  std::string cases(const Catalogue& words = {}) const;

  /// What was said to a question, by its text; null where it was not asked or skipped.
  nlohmann::json said(const std::string& question) const;
  void say(const std::string& question, const nlohmann::json& what);

 private:
  nlohmann::json read() const;
  void change(const std::function<void(nlohmann::json&)>& how);

  std::filesystem::path answer_, file_;
  nlohmann::json json_;
};

/// Puts the stub where the learner writes. Never overwrites: with `reset` what is there gets another name,
/// which is returned. Where it cannot be written all stays as it is.
std::optional<std::filesystem::path> place_stub(const Exercise& exercise, const Progress& progress,
                                                bool reset);

}  // namespace gradus::learn
