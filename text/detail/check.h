#pragma once
// Errors with formatted messages, for .cpp files.

#include <fmt/format.h>

#include "gradus/core/error.h"

namespace gradus::text {

/// Throws Error with the formatted message.
template <class... Args>
[[noreturn]] void fail_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail(fmt::format(message, args...));
}

/// The same unless `condition` holds: `check(n > 0, "train_word_piece: expects n > 0, got {}", n);`
template <class... Args>
void check(bool condition, fmt::format_string<const Args&...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    fail(fmt::format(message, args...));
}

}  // namespace gradus::text
