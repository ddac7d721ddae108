#pragma once
// Part of body.h. Reductions of one run, and a row vector times a matrix.

namespace gradus::kernels {
namespace {

template <class V>
ScalarOf<V> sum_run(I n, const ScalarOf<V>* x) {
  return sum(accumulate<V>(n, [=](V acc, auto at) { return acc + at.load(x); }));
}

template <class V>
ScalarOf<V> sum_square(I n, const ScalarOf<V>* x) {
  return sum(accumulate<V>(n, [=](V acc, auto at) {
    const V v = at.load(x);
    return fma(v, v, acc);
  }));
}

template <class V>
ScalarOf<V> dot(I n, const ScalarOf<V>* a, const ScalarOf<V>* b) {
  return sum(accumulate<V>(n, [=](V acc, auto at) { return fma(at.load(a), at.load(b), acc); }));
}

/// The largest value so far; a NaN stays.
template <class V>
struct Largest {
  V v = -__builtin_inf();
  friend Largest join(Largest a, Largest b) { return {maximum(a.v, b.v)}; }
};

template <class V>
ScalarOf<V> max_run(I n, const ScalarOf<V>* x) {
  const auto step = [=](Largest<V> acc, auto at) {
    return Largest<V>{maximum(acc.v, at.load(x, -__builtin_inf()))};
  };
  const V largest = accumulate<V, Largest<V>>(n, step).v;
  return any(largest != largest) ? ScalarOf<V>(__builtin_nanf("")) : max_lane(largest);
}

template <class V>
struct Smallest {
  V v = __builtin_inf();
  friend Smallest join(Smallest a, Smallest b) { return {minimum(a.v, b.v)}; }
};

template <class V>
ScalarOf<V> min_run(I n, const ScalarOf<V>* x) {
  const auto step = [=](Smallest<V> acc, auto at) {
    return Smallest<V>{minimum(acc.v, at.load(x, __builtin_inf()))};
  };
  const V smallest = accumulate<V, Smallest<V>>(n, step).v;
  return any(smallest != smallest) ? ScalarOf<V>(__builtin_nanf("")) : min_lane(smallest);
}

/// y += x[0] a[0] + ... + x[rows - 1] a[rows - 1], or y = when `first`.
template <class V, int rows>
void add_rows(I n, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y, bool first) {
  for_each<V>(n, [=](auto at) {
    V acc = first ? V(0) : at.load(y);
    for (int r = 0; r < rows; ++r) acc = fma(V(x[r]), at.load(a + r * lda), acc);
    at.store(y, acc);
  });
}

// Eight rows at a time are read side by side, each from left to right as memory likes it; y is cut into
// pieces that stay in the first-level cache while all rows pass.
template <class V>
void gemv_t(I m, I n, const ScalarOf<V>* a, I lda, const ScalarOf<V>* x, ScalarOf<V>* y) {
  constexpr I piece = 2048;
  for (I j = 0; j < n; j += piece) {
    const I width = n - j < piece ? n - j : piece;
    if (m == 0) for_each<V>(width, [=](auto at) { at.store(y + j, V(0)); });
    I i = 0;
    for (; i + 8 <= m; i += 8) add_rows<V, 8>(width, a + i * lda + j, lda, x + i, y + j, i == 0);
    for (; i < m; ++i) add_rows<V, 1>(width, a + i * lda + j, lda, x + i, y + j, i == 0);
  }
}

}  // namespace
}  // namespace gradus::kernels
