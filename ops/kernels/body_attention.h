#pragma once
// Part of body.h. Attention's work on a tile of scores between its matrix products.
//
// A row's softmax over many keys is taken a few hundred keys at a time, while they are in cache (Milakov &
// Gimelshein 2018): with m the largest score so far and l = sum exp(s - m), a new largest score m' makes
//   l' = l exp(m - m') + sum over the new keys of exp(s - m')
// and what was summed before with the weights of m is corrected by the same factor exp(m - m').

namespace gradus::kernels {
namespace {

/// How many keys row r sees.
template <class T>
I seen_by(const ScoreRows<T>& s, I r) {
  const I n = s.seen + r * s.step;
  return n < 0 ? 0 : n < s.keys ? n : s.keys;
}

template <class V>
void clear(I n, ScalarOf<V>* x) {
  for_each<V>(n, [=](auto at) { at.store(x, V(0)); });
}

template <class V>
void attention_exp(const ScoreRows<ScalarOf<V>>& s, ScalarOf<V>* largest, ScalarOf<V>* sum,
                   ScalarOf<V>* correction) {
  using T = ScalarOf<V>;
  for (I r = 0; r < s.rows; ++r) {
    T* const row = s.data + r * s.ld;
    const I n = seen_by(s, r);
    const T before = largest[r], here = n > 0 ? max_run<V>(n, row) : before;
    const T top = before >= here ? before : here;  // a NaN wins: what is compared with it is false
    const T added = exp_shift_sum<V>(n, top, row, row);
    clear<V>(s.keys - n, row + n);
    // exp(-inf - top) = 0, but -inf - -inf is NaN.
    correction[r] = before == top                ? T(1)
                    : before == -__builtin_inf() ? T(0)
                                                 : static_cast<T>(::exp(static_cast<double>(before - top)));
    sum[r] = sum[r] * correction[r] + added;
    largest[r] = top;
  }
}

template <class V>
void attention_weights(const ScoreRows<ScalarOf<V>>& s, const ScalarOf<V>* log_sum) {
  for (I r = 0; r < s.rows; ++r) {
    ScalarOf<V>* const row = s.data + r * s.ld;
    const I n = seen_by(s, r);
    const V shift = log_sum[r];
    for_each<V>(n, [=](auto at) { at.store(row, exp(at.load(row) - shift)); });
    clear<V>(s.keys - n, row + n);
  }
}

template <class V>
void attention_score_grad(const ScoreRows<ScalarOf<V>>& dp, const ScalarOf<V>* p, const ScalarOf<V>* delta) {
  for (I r = 0; r < dp.rows; ++r) {
    ScalarOf<V>* const row = dp.data + r * dp.ld;
    const ScalarOf<V>* const weights = p + r * dp.ld;
    const I n = seen_by(dp, r);
    const V mean = delta[r];
    for_each<V>(n, [=](auto at) { at.store(row, at.load(weights) * (at.load(row) - mean)); });
    clear<V>(dp.keys - n, row + n);
  }
}

}  // namespace
}  // namespace gradus::kernels
