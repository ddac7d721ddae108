#pragma once
// The loop that does an elementwise operation on two runs of one type: for float and double the
// kernel, for integers and bools, whose speed hardly matters, plain code with the same signature.

#include <cstdint>
#include <functional>
#include <type_traits>

#include "gradus/core/error.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus {

/// y = f(a, b) on n elements; a stride is 0 (one value for all) or 1.
template <class T, class Out>
using BinaryRun = void (*)(std::int64_t n, const T* a, std::int64_t sa, const T* b, std::int64_t sb, Out* y);

namespace plain {

template <class T, class Out, class F>
void loop(std::int64_t n, const T* a, std::int64_t sa, const T* b, std::int64_t sb, Out* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = F{}(a[i * sa], b[i * sb]);
}

/// Arithmetic that wraps around, as in PyTorch, where that of C++ would be undefined.
template <class F>
struct Wrapping {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return static_cast<std::int64_t>(F{}(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
};
struct Larger {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a > b ? a : b; }
};
struct Smaller {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a < b ? a : b; }
};
/// Rounds down, where C++ rounds towards 0. b is not 0; by -1 the processor would trap for INT64_MIN.
struct FloorDivide {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    if (b == -1) return Wrapping<std::minus<std::uint64_t>>{}(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }
};
/// Has b's sign, where that of C++ has a's.
struct Remainder {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    if (b == -1) return 0;
    const std::int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
};

}  // namespace plain

/// The loop for an operation on T. Integers have neither div nor pow: callers must not request them.
template <class T>
BinaryRun<T, T> binary_run(kernels::Binary f) {
  if constexpr (std::is_floating_point_v<T>) {
    return kernels::table<T>().binary[static_cast<int>(f)];
  } else {
    using U = std::uint64_t;
    switch (f) {
      case kernels::Binary::add:
        return plain::loop<T, T, plain::Wrapping<std::plus<U>>>;
      case kernels::Binary::sub:
        return plain::loop<T, T, plain::Wrapping<std::minus<U>>>;
      case kernels::Binary::mul:
        return plain::loop<T, T, plain::Wrapping<std::multiplies<U>>>;
      case kernels::Binary::floor_divide:
        return plain::loop<T, T, plain::FloorDivide>;
      case kernels::Binary::remainder:
        return plain::loop<T, T, plain::Remainder>;
      case kernels::Binary::maximum:
        return plain::loop<T, T, plain::Larger>;
      case kernels::Binary::minimum:
        return plain::loop<T, T, plain::Smaller>;
      default:
        fail("binary_run: integers have neither div nor pow");
    }
  }
}

/// The loop for a comparison of two T.
template <class T>
BinaryRun<T, bool> compare_run(kernels::Compare f) {
  if constexpr (std::is_floating_point_v<T>) return kernels::table<T>().compare[static_cast<int>(f)];
  switch (f) {
    case kernels::Compare::eq:
      return plain::loop<T, bool, std::equal_to<T>>;
    case kernels::Compare::ne:
      return plain::loop<T, bool, std::not_equal_to<T>>;
    case kernels::Compare::lt:
      return plain::loop<T, bool, std::less<T>>;
    case kernels::Compare::le:
      return plain::loop<T, bool, std::less_equal<T>>;
    case kernels::Compare::gt:
      return plain::loop<T, bool, std::greater<T>>;
    default:
      return plain::loop<T, bool, std::greater_equal<T>>;
  }
}

}  // namespace gradus
