#pragma once
// Builds a learner's file with the cases of its exercise, and runs them.

#include <optional>
#include <string>
#include <utility>

#include "learn/program/exercise.h"

namespace gradus::learn {

/// The source of the program that grades: the learner's file and the cases.
std::string grader_source(const Exercise& exercise, const std::filesystem::path& answer);

/// What a learner can use of a compiler's output, with a remedy.
std::string compile_errors(const std::string& log, const std::filesystem::path& answer,
                           const Catalogue& words = {});

/// Builds and runs; prints a line a case. Returns how many of how many passed; nothing when it does not
/// compile.
std::optional<std::pair<int, int>> grade_answer(const Exercise& exercise, const std::filesystem::path& answer,
                                                double limit);

}  // namespace gradus::learn
