#pragma once
// Part of body.h. Layer norm (Ba, Kiros & Hinton 2016) and RMS norm (Zhang & Sennrich 2019) of rows of n
// values. The letters are those of the formulas in norm/layer_norm.cpp and norm/rms_norm.cpp.

namespace gradus::kernels {
namespace {

/// A weight or bias that may be absent.
template <class V, class At>
V load_or(At at, const ScalarOf<V>* p, double value) {
  return p ? at.load(p) : V(value);
}

template <class V>
struct Moments {
  ScalarOf<V> mean;
  double variance;  // biased: divided by n
};

// The corrected two-pass algorithm (Chan, Golub & LeVeque 1983). The first pass gives a mean with a rounding
// error; the second sums the deviations d from it as well as d^2. The mean of d is that error: added to the
// mean it makes a constant row's mean exact (so the row normalises to exactly 0), and its square corrects the
// variance.
template <class V>
Moments<V> moments(I n, const ScalarOf<V>* x) {
  using T = ScalarOf<V>;
  const double count = static_cast<double>(n);
  const T guess = static_cast<T>(static_cast<double>(sum_run<V>(n, x)) / count);
  const Pair<V> sums = accumulate<V, Pair<V>>(n, [=](Pair<V> acc, auto at) {
    const V d = at.load(x, static_cast<double>(guess)) - V(guess);
    return Pair<V>{acc.a + d, fma(d, d, acc.b)};
  });
  const double error = static_cast<double>(sum(sums.a)) / count;
  const double variance = static_cast<double>(sum(sums.b)) / count - error * error;
  return {static_cast<T>(static_cast<double>(guess) + error), variance < 0 ? 0 : variance};
}

// A row's second pass depends on a long chain of operations: sums across lanes, divisions, a root. So
// the first pass is made for a few rows before the second of any: the CPU then overlaps their chains. They
// must stay in the first-level cache in between, and backward reads and writes more arrays.
constexpr I kRowsTogether = 8, kForwardValues = 4096, kBackwardValues = 1024;

/// first(row, i) for the i-th of a few rows, `values` in all, then second(row, i) for the same; and so on.
template <class First, class Second>
[[gnu::always_inline]] inline void in_two_passes(I rows, I n, I values, First first, Second second) {
  const I fit = values / n, together = fit < 1 ? 1 : fit < kRowsTogether ? fit : kRowsTogether;
  for (I begin = 0; begin < rows; begin += together) {
    const I count = rows - begin < together ? rows - begin : together;
    for (I i = 0; i < count; ++i) first(begin + i, i);
    for (I i = 0; i < count; ++i) second(begin + i, i);
  }
}

/// y = xhat weight + bias, xhat = (x - mean) rstd, rstd = 1 / sqrt(variance + eps)
template <class V>
void layer_norm(I rows, I n, ScalarOf<V> eps, const ScalarOf<V>* x, const ScalarOf<V>* weight,
                const ScalarOf<V>* bias, ScalarOf<V>* y, ScalarOf<V>* mean, ScalarOf<V>* rstd) {
  using T = ScalarOf<V>;
  const auto find_moments = [=](I row, I) {
    const Moments<V> of = moments<V>(n, x + row * n);
    mean[row] = of.mean;
    rstd[row] = static_cast<T>(1 / __builtin_sqrt(of.variance + static_cast<double>(eps)));
  };
  const auto normalize = [=](I row, I) {
    const V centre = mean[row], scale_by = rstd[row];
    const T* const from = x + row * n;
    T* const to = y + row * n;
    for_each<V>(n, [=](auto at) {
      const V xhat = (at.load(from) - centre) * scale_by;
      at.store(to, fma(xhat, load_or<V>(at, weight, 1), load_or<V>(at, bias, 0)));
    });
  };
  in_two_passes(rows, n, kForwardValues, find_moments, normalize);
}

/// The sums of dn = dy weight and of dn xhat over one row; dweight += dy xhat and dbias += dy on the way.
template <class V>
Pair<V> layer_norm_grad_sums(I n, const ScalarOf<V>* x, const ScalarOf<V>* weight, V mean, V rstd,
                             const ScalarOf<V>* dy, ScalarOf<V>* dweight, ScalarOf<V>* dbias) {
  return accumulate<V, Pair<V>>(n, [=](Pair<V> acc, auto at) {
    const V d = at.load(dy), xhat = (at.load(x) - mean) * rstd, dn = d * load_or<V>(at, weight, 1);
    if (dweight) at.store(dweight, fma(d, xhat, at.load(dweight)));  // dweight += dy xhat
    if (dbias) at.store(dbias, at.load(dbias) + d);                  // dbias += dy
    return Pair<V>{acc.a + dn, fma(dn, xhat, acc.b)};                // sum(dn), sum(dn xhat)
  });
}

/// dx = rstd (dn - mean(dn) - xhat mean(dn xhat))
template <class V>
void layer_norm_dx(I n, const ScalarOf<V>* x, const ScalarOf<V>* weight, V mean, V rstd,
                   const ScalarOf<V>* dy, Pair<V> sums, ScalarOf<V>* dx) {
  const V mean_dn = static_cast<double>(sum(sums.a)) / static_cast<double>(n);
  const V mean_dn_xhat = static_cast<double>(sum(sums.b)) / static_cast<double>(n);
  for_each<V>(n, [=](auto at) {
    const V xhat = (at.load(x) - mean) * rstd, dn = at.load(dy) * load_or<V>(at, weight, 1);
    at.store(dx, rstd * (dn - mean_dn - xhat * mean_dn_xhat));
  });
}

template <class V>
void layer_norm_grad(I rows, I n, const ScalarOf<V>* x, const ScalarOf<V>* weight, const ScalarOf<V>* mean,
                     const ScalarOf<V>* rstd, const ScalarOf<V>* dy, ScalarOf<V>* dx, ScalarOf<V>* dweight,
                     ScalarOf<V>* dbias) {
  Pair<V> sums[kRowsTogether];
  const auto add_up = [&](I row, I i) {
    sums[i] =
        layer_norm_grad_sums<V>(n, x + row * n, weight, mean[row], rstd[row], dy + row * n, dweight, dbias);
  };
  const auto find_dx = [&](I row, I i) {
    if (dx)
      layer_norm_dx<V>(n, x + row * n, weight, mean[row], rstd[row], dy + row * n, sums[i], dx + row * n);
  };
  in_two_passes(rows, n, kBackwardValues, add_up, find_dx);
}

/// y = xhat weight, xhat = x rstd, rstd = 1 / sqrt(mean(x^2) + eps)
template <class V>
void rms_norm(I n, ScalarOf<V> eps, const ScalarOf<V>* x, const ScalarOf<V>* weight, ScalarOf<V>* y,
              ScalarOf<V>* rstd) {
  const double mean_square = static_cast<double>(sum_square<V>(n, x)) / static_cast<double>(n);
  *rstd = static_cast<ScalarOf<V>>(1 / __builtin_sqrt(mean_square + static_cast<double>(eps)));
  const V scale_by = *rstd;
  for_each<V>(n, [=](auto at) { at.store(y, at.load(x) * scale_by * load_or<V>(at, weight, 1)); });
}

/// dx = rstd (dn - xhat mean(dn xhat)) with dn = dy weight; dweight += dy xhat
template <class V>
void rms_norm_grad(I n, const ScalarOf<V>* x, const ScalarOf<V>* weight, ScalarOf<V> rstd,
                   const ScalarOf<V>* dy, ScalarOf<V>* dx, ScalarOf<V>* dweight) {
  const V scale_by = rstd;
  const V products = accumulate<V>(n, [=](V acc, auto at) {
    const V d = at.load(dy), xhat = at.load(x) * scale_by;
    if (dweight) at.store(dweight, fma(d, xhat, at.load(dweight)));  // dweight += dy xhat
    return fma(d * load_or<V>(at, weight, 1), xhat, acc);            // sum(dn xhat)
  });
  if (!dx) return;
  const V mean_dn_xhat = static_cast<double>(sum(products)) / static_cast<double>(n);
  for_each<V>(n, [=](auto at) {
    const V xhat = at.load(x) * scale_by, dn = at.load(dy) * load_or<V>(at, weight, 1);
    at.store(dx, scale_by * (dn - xhat * mean_dn_xhat));
  });
}

}  // namespace
}  // namespace gradus::kernels
