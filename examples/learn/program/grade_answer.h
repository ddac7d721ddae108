#pragma once
// Builds a learner's file with the cases of its exercise, and runs these.

#include <optional>
#include <string>
#include <utility>

#include "learn/program/exercise.h"

namespace gradus::learn {

/// The source of the grading program: the learner's file and the cases.
std::string grader_source(const Exercise& exercise, const std::filesystem::path& answer);

/// The part of a compiler's output that helps a learner, with a remedy.
std::string compile_errors(const std::string& log, const std::filesystem::path& answer,
                           const Catalogue& words = {});

/// Builds and runs; prints one line per case. Returns the numbers of passed and of all cases; nothing if it
/// does not compile.
std::optional<std::pair<int, int>> grade_answer(const Exercise& exercise, const std::filesystem::path& answer,
                                                double limit);

}  // namespace gradus::learn
