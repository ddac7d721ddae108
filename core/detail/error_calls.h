#pragma once
// The calls that an Error records, where the library must do so itself.

#include <exception>
#include <string>

#include "gradus/core/error.h"

namespace gradus {

struct ErrorCalls {
  /// An Error without calls, for one that is made ahead of time.
  static Error none(const std::string& message);
  /// A copy with the calls of this thread, if they are wanted; where there is no memory for them, without.
  static Error here(const Error& error);
  /// Rethrows what another thread threw. An Error gets the calls of this thread too, after those of the
  /// other: there the program may have none of its own.
  [[noreturn]] static void rethrow(const std::exception_ptr& error);
};

}  // namespace gradus
