#pragma once
// Part of body.h. Softmax and its relations, one row of n values at a time.
//
// The letters are those of the formulas in norm/softmax.cpp; m = max_j x_j. Only x - m goes into exp, so
// nothing overflows. A row of -inf alone has no maximum to subtract (-inf - -inf is NaN): softmax gives NaN
// for it, as PyTorch does, and logsumexp gives log 0 = -inf.

namespace gradus::kernels {
namespace {

/// y = exp(x - shift) and its sum; with a shift of -inf, the maximum of a row of -inf, all zeros.
template <class V>
ScalarOf<V> exp_shift_sum(I n, ScalarOf<V> shift, const ScalarOf<V>* x, ScalarOf<V>* y) {
  if (shift == -__builtin_inf()) {
    for_each<V>(n, [=](auto at) { at.store(y, V(0)); });
    return 0;
  }
  return sum(accumulate<V>(n, [=](V acc, auto at) {
    // Lanes past the end become exp(-inf) = 0.
    const V e = exp_score(at.load(x, -__builtin_inf()) - V(shift));
    at.store(y, e);
    return acc + e;
  }));
}

/// sum exp(x - shift)
template <class V>
ScalarOf<V> exp_sum(I n, ScalarOf<V> shift, const ScalarOf<V>* x) {
  return sum(accumulate<V>(
      n, [=](V acc, auto at) { return acc + exp_score(at.load(x, -__builtin_inf()) - V(shift)); }));
}

/// The largest value of a row; NaN does not count.
template <class V>
struct LargestNumber {
  V v = -__builtin_inf();
  friend LargestNumber join(LargestNumber a, LargestNumber b) { return {max(a.v, b.v)}; }
};

/// y_i = exp(x_i - m) / sum_j exp(x_j - m). A NaN in x makes the sum NaN, and with it all of y: the maximum
/// need not find it.
template <class V>
void softmax(I n, const ScalarOf<V>* x, ScalarOf<V>* y) {
  if (n < 1) return;
  const V m = max_lane(accumulate<V, LargestNumber<V>>(n, [=](LargestNumber<V> acc, auto at) {
                         return LargestNumber<V>{max(at.load(x, -__builtin_inf()), acc.v)};
                       }).v);
  const ScalarOf<V> total = sum(accumulate<V>(n, [=](V acc, auto at) {
    __builtin_prefetch(x + n + at.i);  // the next row, while this one keeps the CPU busy
    __builtin_prefetch(y + n + at.i, 1);
    const V e = exp_score(at.load(x, -__builtin_inf()) - m);  // exp(x_i - m)
    at.store(y, e);
    return acc + e;  // sum_j exp(x_j - m)
  }));
  multiply_by<V>(n, 1 / total, y, y);
}

/// dx_i = y_i (dy_i - sum_j dy_j y_j)
template <class V>
void softmax_grad(I n, const ScalarOf<V>* y, const ScalarOf<V>* dy, ScalarOf<V>* dx) {
  const V products = dot<V>(n, y, dy);  // sum_j dy_j y_j
  for_each<V>(n, [=](auto at) { at.store(dx, at.load(y) * (at.load(dy) - products)); });
}

/// y_i = (x_i - m) - log(sum_j exp(x_j - m)): the small logarithm is never added to a large maximum.
template <class V>
void log_softmax(I n, const ScalarOf<V>* x, ScalarOf<V>* y) {
  if (n < 1) return;
  const ScalarOf<V> largest = max_run<V>(n, x);
  const V m = largest, log_total = ::log(static_cast<double>(exp_sum<V>(n, largest, x)));
  for_each<V>(n, [=](auto at) { at.store(y, (at.load(x) - m) - log_total); });
}

/// dx_i = dy_i - exp(y_i) sum_j dy_j
template <class V>
void log_softmax_grad(I n, const ScalarOf<V>* y, const ScalarOf<V>* dy, ScalarOf<V>* dx) {
  const V total = sum_run<V>(n, dy);  // sum_j dy_j
  for_each<V>(n, [=](auto at) { at.store(dx, at.load(dy) - exp(at.load(y)) * total); });
}

/// m + log(sum_j exp(x_j - m))
template <class V>
ScalarOf<V> logsumexp(I n, const ScalarOf<V>* x) {
  const ScalarOf<V> largest = n < 1 ? ScalarOf<V>(-__builtin_inf()) : max_run<V>(n, x);
  if (largest - largest != 0) return largest;  // -inf, inf or NaN is the answer
  return static_cast<ScalarOf<V>>(largest + ::log(static_cast<double>(exp_sum<V>(n, largest, x))));
}

}  // namespace
}  // namespace gradus::kernels
