#pragma once
// Errors with formatted messages, for .cpp files of programs.

#include <fmt/format.h>

#include "gradus/core/error.h"

namespace gradus::kit {

/// Throws Error with the formatted message.
template <class... Args>
[[noreturn]] void fail_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail(fmt::format(message, args...));
}

/// The same unless `condition` holds: `kit::check(n > 0, "Ngram: expects n > 0, got {}", n);`
template <class... Args>
void check(bool condition, fmt::format_string<const Args&...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    fail(fmt::format(message, args...));
}

/// The same for errors in the user's input, not in the program: see fail_input() in gradus/core/error.h.
template <class... Args>
[[noreturn]] void fail_input_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail_input(fmt::format(message, args...));
}
template <class... Args>
void check_input(bool condition, fmt::format_string<const Args&...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    fail_input(fmt::format(message, args...));
}

}  // namespace gradus::kit
