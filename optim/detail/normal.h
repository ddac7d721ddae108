#pragma once
// Averages of gradients that have become 0.

#include <cmath>
#include <limits>

namespace gradus::optim::detail {

/// x, or 0 if it is below the normal numbers: an average of gradients that are 0 shrinks for ever, and many
/// CPUs compute a hundred times as slowly with denormal numbers.
template <class T>
T normal_or_zero(T x) {
  return std::abs(x) < std::numeric_limits<T>::min() ? T{0} : x;
}

}  // namespace gradus::optim::detail
