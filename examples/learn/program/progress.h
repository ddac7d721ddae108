#pragma once
// A learner's progress: my/NN_name.json.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "learn/program/exercise.h"

namespace gradus::learn {

class Progress {
 public:
  /// `folder`: the learner's. Throws an Error that names the file if this class did not write it.
  Progress(const Exercise& exercise, const std::filesystem::path& folder);

  /// The learner's own file, "my/11_layer_norm.h".
  const std::filesystem::path& answer() const { return answer_; }
  bool begun() const { return std::filesystem::exists(answer_); }

  // Each of these changes is written to the file at once. Changes made meanwhile by another ./run learn are
  // kept.
  void set_cases(int passed, int all);
  /// The answer has changed and is not graded yet.
  void forget_cases();
  bool done() const;
  /// The answer is another one than was graded.
  bool changed() const;
  /// "3 of 5 cases", or another description of the state.
  std::string cases(const Catalogue& words = {}) const;

  /// Hints shown so far.
  std::size_t hints() const;
  void set_hints(std::size_t shown);

  /// The answer to a question, by its text; null if it was not asked or was skipped.
  nlohmann::json said(const std::string& question) const;
  void say(const std::string& question, const nlohmann::json& what);

 private:
  nlohmann::json read() const;
  void change(const std::function<void(nlohmann::json&)>& how);

  std::filesystem::path answer_, file_;
  nlohmann::json json_;
};

/// Renames the learner's files of chapters that had other numbers, such as my/19_pre_and_post.h, .json and
/// .h.1, unless there are files under the new name; returns the pairs of old and new names of answers.
std::vector<std::pair<std::filesystem::path, std::filesystem::path>> renumber(
    const std::vector<Exercise>& all, const std::filesystem::path& folder);

/// Copies the stub to the learner's file. Never overwrites: with `reset` an existing file gets another name,
/// which is returned. If the stub cannot be written, nothing changes.
std::optional<std::filesystem::path> place_stub(const Exercise& exercise, const Progress& progress,
                                                bool reset);

}  // namespace gradus::learn
