#pragma once
// This thread's running module, for messages: Scope in tape/scope.h sets it, fail() in error.cpp reads it.

namespace gradus::detail {

/// The path of the module that is running; "" outside any.
inline constinit thread_local const char* place = "";

}  // namespace gradus::detail
