#pragma once
// What an answer may not name. The grader sees besides which of the library's ops run
// (learn/grading/grading.cpp).

#include <string>
#include <vector>

#include "learn/program/exercise.h"

namespace gradus::learn {

/// Where the code calls what is forbidden, or names it with ::, as "line 12: layer_norm is yours to write
/// here"; empty: nowhere.
std::vector<std::string> forbidden_in(const std::string& code, const Exercise& exercise);

}  // namespace gradus::learn
