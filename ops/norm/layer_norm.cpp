// Layer norm over the last axis.          x, y, dx, dy: [..., C]   weight, bias: [C]   mean, rstd: [rows]
//   y    = xhat weight + bias             xhat = (x - mean) rstd
//   mean = sum(x) / C                     rstd = 1 / sqrt(sum((x - mean)^2) / C + eps)
// With dn = dy weight, and because mean and rstd depend on every x of their row:
//   dx      = rstd (dn - mean(dn) - xhat mean(dn xhat))
//   dweight = sum of dy xhat over rows,   dbias = sum of dy over rows
// Saves x, mean and rstd: xhat is cheaper to compute again than to keep.
// A row whose squares leave the range of its dtype, or with |mean| > 160 / rstd, is done again in f64
// (out_of_range.h): y and dx are right for every finite row. (PyTorch: NaN.)
// kernels/body/norm.h: layer_norm, layer_norm_grad (layer_norm_dx, layer_norm_grad_sums)

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/norm/norm_checks.h"
#include "gradus/ops/norm/out_of_range.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

struct Normalized {
  Array y, mean, rstd;
};

Normalized forward(const Array& x, const Array& weight, const Array& bias, double eps) {
  const Rows rows(x.shape());
  Normalized out{Array::empty(x.shape(), x.dtype()), Array::empty({rows.count, 1}, x.dtype()),
                 Array::empty({rows.count, 1}, x.dtype())};
  dispatch_floating("layer_norm", x, [&]<class T>() {
    const RowPointers<const T> px(x), w(weight), b(bias);
    const RowPointers<T> y(out.y), mean(out.mean), rstd(out.rstd);
    rows.for_each_chunk([&](std::int64_t i, std::int64_t end) {
      kernels::table<T>().layer_norm(end - i, rows.columns, static_cast<T>(eps), px[i], w[0], b[0], y[i],
                                     mean[i], rstd[i]);
      const auto again = [&](std::int64_t row) {
        const RowInF64<T> exact(px[row], rows.columns, eps, /*centred=*/true);
        if (exact.finite()) exact.normalize(w[0], b[0], y[row], mean[row], rstd[row]);
      };
      for_each_run<T>(
          i, end, mean[0], rstd[0], [](std::int64_t, std::int64_t) {}, again);
    });
  });
  return out;
}

/// Those of dx, dweight and dbias that are needed.
Grads backward(const Array& dy, const Array& x, const Array& weight, const Array& mean, const Array& rstd,
               double eps, Needs needs) {
  const Rows rows(x.shape());
  const RowSums sums(rows);
  const Array dx = needs[0] ? Array::empty(x.shape(), x.dtype()) : Array();
  const Array dweight = needs[1] ? sums.partial_sums(x.dtype()) : Array();
  const Array dbias = needs[2] ? sums.partial_sums(x.dtype()) : Array();
  dispatch_floating("layer_norm", x, [&]<class T>() {
    const RowPointers<const T> px(x), w(weight), m(mean), r(rstd), pdy(dy);
    const RowPointers<T> pdx(dx), dw(dweight), db(dbias);
    sums.for_each_chunk([&](std::int64_t i, std::int64_t end, std::int64_t chunk) {
      const auto fast = [&](std::int64_t first, std::int64_t last) {
        kernels::table<T>().layer_norm_grad(last - first, rows.columns, px[first], w[0], m[first], r[first],
                                            pdy[first], pdx[first], dw[chunk], db[chunk]);
      };
      const auto again = [&](std::int64_t row) {
        const RowInF64<T> exact(px[row], rows.columns, eps, /*centred=*/true);
        if (!exact.finite()) return fast(row, row + 1);
        exact.grad(w[0], pdy[row], pdx[row], dw[chunk], db[chunk]);
      };
      for_each_run<T>(i, end, m[0], r[0], fast, again);
    });
  });
  return {dx, needs[1] ? array::sum(dweight, 0) : dweight, needs[2] ? array::sum(dbias, 0) : dbias};
}

/// The same as a formula. For constants m and s of a row, (x - m) s with eps s^2 has the layer norm of x with
/// eps: with the mean and rstd that forward found, no square leaves the range and no rounding of m shows.
/// Where a deviation is below the smallest normal number (1.2e-38 in f32, 2.2e-308 in f64) s may be infinite,
/// and the result NaN.
std::vector<Tensor> derivative(const Tensor& dy, const Saved& x, const Saved& w, const Array& mean,
                               const Array& rstd, double eps, const Taped& of) {
  const auto mean_of = [](const Tensor& rows) { return rows.mean(-1, true); };
  Shape column = x->shape();
  column[x->dim() - 1] = 1;
  const Tensor m(mean.reshape(column)), s(rstd.reshape(column));
  const Tensor z = (of.in(0, x) * 0.5 - m * 0.5) * (s * 2);  // x - m itself may leave the range
  const Tensor d = z - mean_of(z), r = rsqrt(mean_of(square(d)) + square(s * std::sqrt(eps)));
  const Tensor xhat = d * r, dn = w->defined() ? dy * of.in(1, w) : dy;
  const auto over_rows = [&](const Tensor& t) { return formula::sum_to(t, {t.size(-1)}); };
  return {of[0] ? (dn - mean_of(dn) - xhat * mean_of(dn * xhat)) * r * s : Tensor(),
          of[1] ? over_rows(dy * xhat) : Tensor(), of[2] ? over_rows(dy) : Tensor()};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_norm("layer_norm", x, eps);
  check_norm_parameter("layer_norm", "weight", weight, x);
  check_norm_parameter("layer_norm", "bias", bias, x);
  const Array rows = x.array().contiguous();
  const Array w = weight.defined() ? weight.array().contiguous() : Array();
  Normalized out = forward(rows, w, bias.defined() ? bias.array().contiguous() : Array(), eps);
  return record("layer_norm", out.y, {&x, &weight, &bias},
                [x = Saved(rows), w = Saved(w), mean = out.mean, rstd = out.rstd, eps]<class V>(
                    const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return derivative(dy, x, w, mean, rstd, eps, of);
                  else
                    return backward(dy.contiguous(), *x, *w, mean, rstd, eps, of);
                });
}

}  // namespace gradus
