// Layer norm over the last axis.          x, y, dx, dy: [..., C]   weight, bias: [C]   mean, rstd: [rows]
//   y    = xhat weight + bias             xhat = (x - mean) rstd
//   mean = sum(x) / C                     rstd = 1 / sqrt(sum((x - mean)^2) / C + eps)
// With dn = dy weight, and because mean and rstd depend on every x of their row:
//   dx      = rstd (dn - mean(dn) - xhat mean(dn xhat))
//   dweight = sum of dy xhat over rows,   dbias = sum of dy over rows
// Saves x, mean and rstd: xhat is cheaper to compute again than to keep.
// A row whose squares leave the range of its dtype, or with |mean| > 160 / rstd, is done again in f64
// (out_of_range.h): y and dx are right for every finite row. (PyTorch: 0, NaN or few digits.)
// Second derivatives: norm_derivative.h.
// kernels/body/norm.h: layer_norm, layer_norm_grad (layer_norm_dx, layer_norm_grad_sums)

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/norm/norm_checks.h"
#include "gradus/ops/norm/norm_derivative.h"
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

Grads backward(const Array& dy, const Array& x, const Array& weight, const Array& mean, const Array& rstd,
               double eps, NormWanted wanted) {
  const Rows rows(x.shape());
  const RowSums sums(rows);
  const Array dx = wanted.dx ? Array::empty(x.shape(), x.dtype()) : Array();
  const Array dweight = wanted.dweight ? sums.partial_sums(x.dtype()) : Array();
  const Array dbias = wanted.dbias ? sums.partial_sums(x.dtype()) : Array();
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
  return {dx, wanted.dweight ? array::sum(dweight, 0) : dweight, wanted.dbias ? array::sum(dbias, 0) : dbias};
}

Array layer_norm_dx(const NormOfRows& norm, const Array& dn, const Array& x) {
  const NormWanted dx{.dx = true};
  return backward(dn.contiguous(), x, {}, norm.mean, norm.rstd, norm.eps, dx)[0].take();
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
                  if constexpr (kTaped<V>) {
                    const auto xhat = [](const Tensor& t, double e) { return layer_norm(t, {}, {}, e); };
                    const NormOfRows norm{"layer_norm", xhat, layer_norm_dx, mean, rstd, eps};
                    const auto [dx, dweight] = norm_derivative(norm, dy, x, w, of);
                    return {dx, dweight, of[2] ? formula::sum_to(dy, {dy.size(-1)}) : Tensor()};
                  } else {
                    return backward(dy.contiguous(), *x, *w, mean, rstd, eps, {of[0], of[1], of[2]});
                  }
                });
}

}  // namespace gradus
