#pragma once

namespace gradus {

/// std::bit_cast, which emscripten's standard library does not have yet.
template <class To, class From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace gradus
