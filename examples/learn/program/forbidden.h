#pragma once
// Finds forbidden names in an answer. In addition, the grader sees which of the library's ops run
// (learn/grading/grading.cpp).

#include <string>
#include <vector>

#include "learn/program/exercise.h"

namespace gradus::learn {

/// The places where the code calls forbidden functions, or names them with ::, as "line 12: layer_norm is
/// yours to write here"; empty: none.
std::vector<std::string> forbidden_in(const std::string& code, const Exercise& exercise);

}  // namespace gradus::learn
