#pragma once
// Part of body.h. Attention's work on a tile of scores S between its matrix products: S, P and dP are those
// of the formulas in attention/attention_forward.cpp and attention/attention_backward.cpp.
//
// A row's softmax over many keys is taken a few hundred keys at a time, while they are in cache (Milakov &
// Gimelshein 2018): with m the largest score so far and l = sum exp(s - m), a new largest score m' makes
//   l' = l exp(m - m') + sum over the new keys of exp(s - m')
// and what was summed before with the weights of m is corrected by the same factor exp(m - m').

namespace gradus::kernels {
namespace {

/// A row of scores, or what lies as they do, of which only the first `seen` count. Vectors are written whole,
/// with zeros for the rest: each row of a causal tile sees one key more than the one before, and a different
/// loop end for each of them costs more than the arithmetic.
template <class V>
struct ScoreRow {
  using T = ScalarOf<V>;
  T* data;
  I keys, seen;

  ScoreRow(const ScoreRows<T>& s, I r) : data(s.data + r * s.ld), keys(s.keys) {
    const I n = s.seen + r * s.step;
    seen = n < 0 ? 0 : n < keys ? n : keys;
  }
  /// The others as `fill`.
  V load(I i, double fill) const {
    return seen - i >= V::lanes ? V::load(data + i) : V::load(data + i, seen - i, fill);
  }
  void store(I i, V v) const { keys - i >= V::lanes ? v.store(data + i) : v.store(data + i, keys - i); }
  /// Zeros in all vectors past the seen keys.
  void clear_rest() const {
    for (I i = (seen + V::lanes - 1) / V::lanes * V::lanes; i < keys; i += V::lanes) store(i, V(0));
  }
};

// A row's maximum and sum end in a chain of steps that wait for each other. Taken for a few rows before the
// next step of any, they overlap.
constexpr I kScoreRows = 16;

/// S = exp(S - m), and each row's m, l and the correction of what was summed before.
template <class V>
void attention_exp(const ScoreRows<ScalarOf<V>>& s, ScalarOf<V>* largest, ScalarOf<V>* sums,
                   ScalarOf<V>* correction) {
  using T = ScalarOf<V>;
  for (I begin = 0; begin < s.rows; begin += kScoreRows) {
    const I end = s.rows - begin < kScoreRows ? s.rows : begin + kScoreRows;
    for (I r = begin; r < end; ++r) {
      const ScoreRow<V> row(s, r);
      V m = largest[r];
      for (I i = 0; i < row.seen; i += V::lanes)
        m = max(row.load(i, -__builtin_inf()), m);  // m'; a NaN is left to the sum
      correction[r] = largest[r];
      largest[r] = max_lane(m);
    }
    for (I r = begin; r < end; ++r) {
      const ScoreRow<V> row(s, r);
      const T before = correction[r], top = largest[r];
      const V shift = top == -__builtin_inf() ? T(0) : top;  // nothing seen yet: exp(-inf - 0) = 0
      V added;                                               // sum over the new keys of exp(s - m')
      for (I i = 0; i < row.seen; i += V::lanes) {
        const V e = exp_score(row.load(i, -__builtin_inf()) - shift);
        row.store(i, e);
        added = added + e;
      }
      row.clear_rest();
      // exp(m - m'); exp(-inf - top) = 0, but -inf - -inf is NaN.
      correction[r] = before == top                ? T(1)
                      : before == -__builtin_inf() ? T(0)
                                                   : static_cast<T>(::exp(static_cast<double>(before - top)));
      sums[r] = sums[r] * correction[r] + sum(added);  // l'
    }
  }
}

/// O = O / l and, in place of l, 1 / l, for each row; 0 for all three where nothing is seen.
template <class V>
void attention_output(I rows, I n, ScalarOf<V>* largest, ScalarOf<V>* sums, ScalarOf<V>* out, I ld) {
  using T = ScalarOf<V>;
  for (I r = 0; r < rows; ++r) {
    T* const row = out + r * ld;
    if (sums[r] == 0) {
      largest[r] = 0;
      for_each<V>(n, [=](auto at) { at.store(row, V(0)); });  // the row need not be finite
      continue;
    }
    sums[r] = 1 / sums[r];
    const V inverse = sums[r];
    for_each<V>(n, [=](auto at) { at.store(row, at.load(row) * inverse); });
  }
}

/// The sum of dO O over a row's channels, which is delta = sum_j P_j dP_j but for rounding.
template <class V>
void attention_delta(I rows, I n, const ScalarOf<V>* dout, I ld_dout, const ScalarOf<V>* out, I ld_out,
                     ScalarOf<V>* delta) {
  for (I r = 0; r < rows; ++r) delta[r] = dot<V>(n, dout + r * ld_dout, out + r * ld_out);
}

/// P = exp(S - m) / l
template <class V>
void attention_weights(const ScoreRows<ScalarOf<V>>& s, const ScalarOf<V>* largest,
                       const ScalarOf<V>* inverse) {
  for (I r = 0; r < s.rows; ++r) {
    const ScoreRow<V> row(s, r);
    const V shift = largest[r], share = inverse[r];
    for (I i = 0; i < row.seen; i += V::lanes)
      row.store(i, exp_score(row.load(i, -__builtin_inf()) - shift) * share);
    row.clear_rest();
  }
}

/// dS = P (dP - delta), with delta = sum_j P_j dP_j
///
/// Keys of a row may pass in several calls, of which the first needs delta already: an estimate of it then
/// leaves a rest, the sum of dS, which must be 0. The call with which the row's weight ends takes it back,
///   delta = estimate + rest / sum of its P
/// if it has a quarter of the weight or more: dividing by less would enlarge the rest too much. With all of
/// it in one call that is delta itself, whatever the estimate, up to the rounding of dP - estimate.
template <class V>
void attention_score_grad(const ScoreRows<ScalarOf<V>>& dp, const ScalarOf<V>* p, bool last,
                          const ScalarOf<V>* estimate, ScalarOf<V>* weight, ScalarOf<V>* rest) {
  using T = ScalarOf<V>;
  constexpr T enough = T(1) / 4, all = 1 - 4 * (sizeof(T) == sizeof(float) ? T(0x1p-23) : T(0x1p-52));
  for (I r = 0; r < dp.rows; ++r) {
    const ScoreRow<V> row(dp, r);
    const T* const weights = p + r * dp.ld;
    T delta = estimate[r];
    V total, sums;  // of P and P (dP - estimate)
    for_each<V>(row.seen, [&, near = V(delta)](auto at) {
      const V w = at.load(weights);
      total = total + w;
      sums = madd(w, at.load(row.data) - near, sums);
    });
    const T here = sum(total);
    weight[r] += here;
    rest[r] += sum(sums);
    if ((last || weight[r] >= all) && here >= enough) {
      delta += rest[r] / here;
      rest[r] = 0;
    }
    const auto ds = [=](auto at) { return at.load(weights) * (at.load(row.data) - V(delta)); };
    I i = 0;
    for (; i + V::lanes <= row.seen; i += V::lanes) ds(Whole<V>{i}).store(row.data + i);
    if (i < row.seen) {
      const V end = ds(Tail<V>{i, row.seen - i});
      row.store(i, V(0));  // what is not seen must stay 0 also where delta is infinite
      end.store(row.data + i, row.seen - i);
    }
    row.clear_rest();
  }
}

}  // namespace
}  // namespace gradus::kernels
