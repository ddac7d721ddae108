#pragma once
// The calls recorded in an Error, where the library must record them itself.

#include <exception>
#include <string>

#include "gradus/core/error.h"

namespace gradus {

struct ErrorCalls {
  /// An Error without calls, for one created in advance.
  static Error none(const std::string& message);
  /// An Error of fail_input(), which has no calls and gets none.
  static Error input(const std::string& message);
  static bool is_input(const Error& error);
  /// A copy with this thread's calls, if wanted; without them if memory runs out.
  static Error here(const Error& error);
  /// Rethrows an exception of another thread. An Error gets this thread's calls too, after those of the
  /// other, which may include none of the program's.
  [[noreturn]] static void rethrow(const std::exception_ptr& error);
};

}  // namespace gradus
