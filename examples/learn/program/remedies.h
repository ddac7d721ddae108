#pragma once
// What a learner can do about an error of the compiler.

#include <string>

#include "learn/program/catalogue.h"

namespace gradus::learn {

/// The compiler's message for a namespace or a function that begins inside a function.
inline constexpr const char* kUnclosed = "definition is not allowed here";

/// The linker's message for a function that the grader has too, such as main.
inline constexpr const char* kDefinedTwice = "multiple definition of";

/// The remedy for a compiler's message, of GCC or Clang; "" if there is none.
std::string remedy(const std::string& error, const Catalogue& words);

}  // namespace gradus::learn
