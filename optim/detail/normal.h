#pragma once
// Averages of gradients that have become 0 shrink for ever, and many CPUs compute a hundred times as slowly
// below the normal numbers.

#include <cmath>
#include <limits>

namespace gradus::optim::detail {

/// The least average of squares that is kept, as in the kernel of Adam: the least normal number, or 0 if
/// the root of a smaller one counts next to eps. `rest` is the share of a new square.
template <class T>
T least_square(double eps, double rest) {
  constexpr double normal = std::numeric_limits<T>::min(), digits = 1ull << std::numeric_limits<T>::digits;
  return eps * eps * rest < digits * digits * normal ? T{0} : std::numeric_limits<T>::min();
}

/// x, or 0 below `least`.
template <class T>
T or_zero(T x, T least = std::numeric_limits<T>::min()) {
  return std::abs(x) < least ? T{0} : x;
}

}  // namespace gradus::optim::detail
