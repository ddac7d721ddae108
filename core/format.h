#pragma once
// Messages for .cpp files (internal: never included by a public header): fmt plus printing of shapes and dtypes.

#include <fmt/format.h>

#include "gradus/core/dtype.h"
#include "gradus/core/error.h"
#include "gradus/core/shape.h"

template <>
struct fmt::formatter<gradus::Dims> : fmt::formatter<std::string> {
  auto format(const gradus::Dims& dims, format_context& ctx) const {
    return fmt::formatter<std::string>::format(gradus::to_string(dims), ctx);
  }
};

template <>
struct fmt::formatter<gradus::Axes> : fmt::formatter<gradus::Dims> {};

template <>
struct fmt::formatter<gradus::DType> : fmt::formatter<const char*> {
  auto format(gradus::DType dtype, format_context& ctx) const {
    return fmt::formatter<const char*>::format(gradus::name(dtype), ctx);
  }
};

namespace gradus {

/// Throws Error with the formatted message unless `condition` holds:
/// `check(n > 0, "eye: expects n > 0, got {}", n);`
template <class... Args>
void check(bool condition, fmt::format_string<const Args&...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    fail(fmt::format(message, args...));
}

template <class... Args>
[[noreturn]] void fail_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail(fmt::format(message, args...));
}

}  // namespace gradus
