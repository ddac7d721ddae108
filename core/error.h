#pragma once
// The one exception type gradus throws.

#include <stdexcept>
#include <string>

#include "gradus/core/cxx20.h"

namespace gradus {

/// A call gradus cannot carry out. what() names the op or layer, what it expected, the shapes it got and,
/// where it helps, the remedy: "matmul: a [32, 64] and b [128, 10] do not match: ...".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// Throws Error(message), with " (in <module path>)" after it when a module is running.
[[noreturn]] void fail(const std::string& message);

}  // namespace gradus
