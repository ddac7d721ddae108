#pragma once
// Part of body.h. Reductions of one run.

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

/// Mean of top - x. The differences are divided before they are added: their sum may be too large.
template <class V>
ScalarOf<V> mean_below(I n, ScalarOf<V> top, const ScalarOf<V>* x) {
  const V share(ScalarOf<V>(1) / static_cast<ScalarOf<V>>(n));
  return sum(accumulate<V>(n, [=](V acc, auto at) {
    // Lanes past the end become top - top = 0.
    return fma(V(top) - at.load(x, static_cast<double>(top)), share, acc);
  }));
}

template <class V>
ScalarOf<V> dot(I n, const ScalarOf<V>* a, const ScalarOf<V>* b) {
  return sum(accumulate<V>(n, [=](V acc, auto at) { return madd(at.load(a), at.load(b), acc); }));
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

}  // namespace
}  // namespace gradus::kernels
