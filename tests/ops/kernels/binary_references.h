#pragma once
// Functions of two values as their definitions have them, and pairs of hard values.

#include <algorithm>

#include "kernel_test.h"

namespace gradus::test {

using kernels::Binary;
using kernels::Compare;

/// max and min as the kernels define them: NaN if either is.
template <class T>
T larger(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
}

template <class T>
T binary_reference(Binary op, T a, T b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::mul:
      return a * b;
    case Binary::div:
      return a / b;
    case Binary::pow:
      return std::pow(a, b);
    case Binary::maximum:
      return larger(a, b);
    case Binary::minimum:
      return smaller(a, b);
    case Binary::count:
      break;
  }
  return 0;
}

template <class T>
bool compare_reference(Compare op, T a, T b) {
  switch (op) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::count:
      break;
  }
  return false;
}

/// Hard values; every third of b equals that of a.
template <class T>
struct Two {
  std::vector<T> a, b;
  explicit Two(I n) : a(hard_values<T>(n, 1)), b(hard_values<T>(n, 2)) {
    std::reverse(b.begin(), b.end());
    for (std::size_t i = 0; i < a.size(); i += 3) b[i] = a[i];
  }
};

}  // namespace gradus::test
