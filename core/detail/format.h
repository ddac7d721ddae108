#pragma once
// Messages for .cpp files, never included by a public header: fmt plus printing of shapes and dtypes.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <string_view>

#include "gradus/core/dtype.h"
#include "gradus/core/error.h"
#include "gradus/core/number.h"
#include "gradus/core/shape.h"

namespace gradus::detail {
/// For types printed by "{}" alone. Deriving from fmt's own formatters makes GCC 12 warn inside fmt;
/// fmt::format_to would instantiate all of fmt in every file, 1.5 s of compile time each.
struct PlainFormatter {
  constexpr auto parse(fmt::format_parse_context& ctx) { return ctx.begin(); }
  static auto write(std::string_view text, fmt::format_context& ctx) {
    return std::copy(text.begin(), text.end(), ctx.out());
  }
};
}  // namespace gradus::detail

template <std::derived_from<gradus::Dims> T>
struct fmt::formatter<T> : gradus::detail::PlainFormatter {
  auto format(const gradus::Dims& dims, format_context& ctx) const {
    return write(gradus::to_string(dims), ctx);
  }
};

template <>
struct fmt::formatter<gradus::DType> : gradus::detail::PlainFormatter {
  auto format(gradus::DType dtype, format_context& ctx) const { return write(gradus::name(dtype), ctx); }
};

template <>
struct fmt::formatter<gradus::Int> : gradus::detail::PlainFormatter {
  auto format(gradus::Int value, format_context& ctx) const {
    return write(std::to_string(std::int64_t{value}), ctx);
  }
};

template <>
struct fmt::formatter<gradus::Scalar> : gradus::detail::PlainFormatter {
  auto format(gradus::Scalar value, format_context& ctx) const {
    if (value.kind() == gradus::Scalar::Kind::floating)
      return write(fmt::format("{}", value.as<double>()), ctx);
    if (value.kind() == gradus::Scalar::Kind::logical) return write(value.as<bool>() ? "true" : "false", ctx);
    return write(std::to_string(*value.whole()), ctx);
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

/// "sum: the tensor is undefined: ...", with the remedy.
[[noreturn]] void fail_undefined(const char* op, const char* what = "the tensor");

/// check() of the user's input, such as a file: see fail_input() in error.h.
template <class... Args>
void check_input(bool condition, fmt::format_string<const Args&...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    fail_input(fmt::format(message, args...));
}

template <class... Args>
[[noreturn]] void fail_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail(fmt::format(message, args...));
}

template <class... Args>
[[noreturn]] void fail_input_with(fmt::format_string<const Args&...> message, const Args&... args) {
  fail_input(fmt::format(message, args...));
}

}  // namespace gradus
