#include "gradus/core/check.h"

#include <fmt/args.h>

#include "gradus/core/detail/format.h"

namespace gradus::detail {

/// A number above i64 is a double in a Scalar.
Argument::Argument(Scalar value) {
  if (value.kind() == Scalar::Kind::floating)
    value_ = value.as<double>();
  else if (value.kind() == Scalar::Kind::logical)
    value_ = value.as<bool>();
  else
    value_ = *value.whole();
}

std::string formatted(std::string_view message, std::initializer_list<Argument> arguments) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const Argument& argument : arguments)
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::same_as<T, const Dims*>)
            store.push_back(to_string(*value));
          else
            store.push_back(value);
        },
        argument.value_);
  return fmt::vformat(message, store);
}

void fail_formatted(std::string_view message, std::initializer_list<Argument> arguments) {
  gradus::fail(formatted(message, arguments));
}

void fail_input_formatted(std::string_view message, std::initializer_list<Argument> arguments) {
  gradus::fail_input(formatted(message, arguments));
}

}  // namespace gradus::detail
