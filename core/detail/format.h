#pragma once
// Texts and messages for .cpp files, never included by a public header: check.h, and fmt with printing of
// shapes and dtypes.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <string_view>

#include "gradus/core/check.h"
#include "gradus/core/dtype.h"
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

/// "sum: the tensor is undefined: ...", with the remedy.
[[noreturn]] void fail_undefined(const char* op, const char* what = "the tensor");

}  // namespace gradus
