#pragma once
// Functions of two values by their definitions, and pairs of difficult values.

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

/// floor(a / b) and what it leaves, with the whole multiples of b taken away first: only then is the quotient
/// sure to be whole.
template <class T>
T floored(T a, T b) {
  if (b == 0) return a / b;
  const T rest = std::fmod(a, b), below = rest != 0 && std::signbit(rest) != std::signbit(b) ? 1 : 0;
  const T quotient = (a - rest) / b - below, whole = std::floor(quotient);
  if (quotient == 0) return std::copysign(T(0), a / b);
  return quotient - whole > T(0.5) ? whole + 1 : whole;
}
template <class T>
T left_over(T a, T b) {
  const T rest = std::fmod(a, b);
  return rest != 0 && std::signbit(rest) != std::signbit(b) ? rest + b : rest;
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
    case Binary::floor_divide:
      return floored(a, b);
    case Binary::remainder:
      return left_over(a, b);
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
