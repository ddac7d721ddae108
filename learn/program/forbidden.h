#pragma once
// What an answer may not name. The grader sees besides which of the library's ops run
// (learn/grading/grading.cpp).

#include <string>
#include <vector>

#include "learn/program/exercise.h"

namespace gradus::learn {

/// C++ without its comments, and with nothing left in strings; lines stay where they are.
std::string without_comments(const std::string& code);

/// Where the code names what is forbidden, as "line 12: layer_norm is yours to write here"; empty: nowhere.
std::vector<std::string> forbidden_in(const std::string& code, const Exercise& exercise);

}  // namespace gradus::learn
