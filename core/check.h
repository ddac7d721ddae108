#pragma once
// Checks whose errors have formatted messages, for gradus and for programs alike.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "gradus/core/dtype.h"
#include "gradus/core/error.h"
#include "gradus/core/number.h"
#include "gradus/core/shape.h"

namespace gradus {
namespace detail {

/// A value in a message: a number, a text or a shape, of which only the address is kept until it is printed.
class Argument {
 public:
  Argument(bool value) : value_(value) {}
  Argument(char value) : value_(value) {}
  template <std::signed_integral T>
  Argument(T value) : value_(std::int64_t{value}) {}
  template <std::unsigned_integral T>
  Argument(T value) : value_(std::uint64_t{value}) {}
  Argument(float value) : value_(value) {}
  Argument(double value) : value_(value) {}
  template <std::convertible_to<std::string_view> T>
  Argument(const T& text) : value_(std::string_view(text)) {}
  Argument(const Dims& shape) : value_(&shape) {}
  Argument(DType dtype) : value_(std::string_view(name(dtype))) {}
  Argument(Int value) : value_(std::int64_t{value}) {}
  Argument(Scalar value);

 private:
  friend std::string formatted(std::string_view, std::initializer_list<Argument>);
  std::variant<bool, char, std::int64_t, std::uint64_t, float, double, std::string_view, const Dims*> value_;
};

[[noreturn]] void fail_formatted(std::string_view message, std::initializer_list<Argument> arguments);
[[noreturn]] void fail_input_formatted(std::string_view message, std::initializer_list<Argument> arguments);

/// A message with a field, {} or {0}, for each of Args; with any other number of them it does not compile.
template <class... Args>
struct MessageOf {
  template <std::convertible_to<std::string_view> T>
  consteval MessageOf(const T& message) : text(message) {
    std::size_t fields = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      if (text[i] != '{') continue;
      const char next = text[i + 1];
      if (next == '{')
        ++i;  // a brace itself
      else if (next < '0' || next > '9')
        ++fields;
      else if (fields < static_cast<std::size_t>(next - '0') + 1)
        fields = static_cast<std::size_t>(next - '0') + 1;
    }
    if (fields != sizeof...(Args)) throw "the message needs one {} for each argument";
  }
  std::string_view text;
};

template <class... Args>
using MessageFor = MessageOf<std::type_identity_t<Args>...>;

}  // namespace detail

/// Throws Error with the message unless `condition` holds. An argument, which is a number, a text, a shape or
/// a dtype, replaces each {}; {:.3g} and the like format numbers as std::format does:
/// `check(n > 0, "eye: expects n > 0, got {}", n);`
template <class... Args>
void check(bool condition, detail::MessageFor<Args...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    detail::fail_formatted(message.text, {detail::Argument(args)...});
}

/// The same where the user's input is wrong, such as an option or a file, not the program: see fail_input().
template <class... Args>
void check_input(bool condition, detail::MessageFor<Args...> message, const Args&... args) {
  if (!condition) [[unlikely]]
    detail::fail_input_formatted(message.text, {detail::Argument(args)...});
}

/// Throws Error with such a message: `fail_with("{}: expects f32, got {}", op, x.dtype());`
template <class... Args>
[[noreturn]] void fail_with(detail::MessageFor<Args...> message, const Args&... args) {
  detail::fail_formatted(message.text, {detail::Argument(args)...});
}

/// The same where the user's input is wrong: see fail_input().
template <class... Args>
[[noreturn]] void fail_input_with(detail::MessageFor<Args...> message, const Args&... args) {
  detail::fail_input_formatted(message.text, {detail::Argument(args)...});
}

}  // namespace gradus
