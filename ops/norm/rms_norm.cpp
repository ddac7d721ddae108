// RMS norm over the last axis.            x, y, dx, dy: [..., C]   weight: [C]   rstd: [rows]
//   y    = xhat weight                    xhat = x rstd
//   rstd = 1 / sqrt(sum(x^2) / C + eps)
// With dn = dy weight, and because rstd depends on every x of its row:
//   dx      = rstd (dn - xhat mean(dn xhat))
//   dweight = sum of dy xhat over rows
// Saves x and rstd.
// A row whose squares leave the range of its dtype is done again in f64 (out_of_range.h): y and dx are right
// for every finite row. Second derivatives: norm_derivative.h.
// kernels/body/norm.h: rms_norm, rms_norm_grad

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

struct RmsNormalized {
  Array y, rstd;
};

RmsNormalized forward(const Array& x, const Array& weight, double eps) {
  const Rows rows(x.shape());
  RmsNormalized out{Array::empty(x.shape(), x.dtype()), Array::empty({rows.count, 1}, x.dtype())};
  dispatch_floating("rms_norm", x, [&]<class T>() {
    const RowPointers<const T> px(x), w(weight);
    const RowPointers<T> y(out.y), rstd(out.rstd);
    rows.for_each_chunk([&, rms_norm = kernels::table<T>().rms_norm](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        rms_norm(rows.columns, static_cast<T>(eps), px[i], w[0], y[i], rstd[i]);
      const auto again = [&](std::int64_t i) {
        const RowInF64<T> exact(px[i], rows.columns, eps, /*centred=*/false);
        if (exact.finite()) exact.normalize(w[0], nullptr, y[i], nullptr, rstd[i]);
      };
      for_each_run<T>(
          begin, end, nullptr, rstd[0], [](std::int64_t, std::int64_t) {}, again);
    });
  });
  return out;
}

Grads backward(const Array& dy, const Array& x, const Array& weight, const Array& rstd, double eps,
               NormWanted wanted) {
  const Rows rows(x.shape());
  const RowSums sums(rows);
  const Array dx = wanted.dx ? Array::empty(x.shape(), x.dtype()) : Array();
  const Array dweight = wanted.dweight ? sums.partial_sums(x.dtype()) : Array();
  dispatch_floating("rms_norm", x, [&]<class T>() {
    const RowPointers<const T> px(x), w(weight), r(rstd), pdy(dy);
    const RowPointers<T> pdx(dx), dw(dweight);
    sums.for_each_chunk([&, rms_norm_grad = kernels::table<T>().rms_norm_grad](
                            std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      const auto fast = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
          rms_norm_grad(rows.columns, px[i], w[0], *r[i], pdy[i], pdx[i], dw[chunk]);
      };
      const auto again = [&](std::int64_t i) {
        const RowInF64<T> exact(px[i], rows.columns, eps, /*centred=*/false);
        if (!exact.finite()) return fast(i, i + 1);
        exact.grad(w[0], pdy[i], pdx[i], dw[chunk], nullptr);
      };
      for_each_run<T>(begin, end, nullptr, r[0], fast, again);
    });
  });
  return {dx, wanted.dweight ? array::sum(dweight, 0) : dweight};
}

Array rms_norm_dx(const NormOfRows& norm, const Array& dn, const Array& x) {
  return backward(dn.contiguous(), x, {}, norm.rstd, norm.eps, {.dx = true})[0].take();
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_norm("rms_norm", x, eps);
  check_norm_parameter("rms_norm", "weight", weight, x);
  const Array rows = x.array().contiguous();
  const Array w = weight.defined() ? weight.array().contiguous() : Array();
  RmsNormalized out = forward(rows, w, eps);
  return record(
      "rms_norm", out.y, {&x, &weight},
      [x = Saved(rows), w = Saved(w), rstd = out.rstd, eps]<class V>(const V& dy, auto of) -> GradsOf<V> {
        if constexpr (kTaped<V>) {
          const auto xhat = [](const Tensor& t, double e) { return rms_norm(t, {}, e); };
          const auto [dx, dweight] =
              norm_derivative({"rms_norm", xhat, rms_norm_dx, {}, rstd, eps}, dy, x, w, of);
          return {dx, dweight};
        } else {
          return backward(dy.contiguous(), *x, *w, rstd, eps, {of[0], of[1]});
        }
      });
}

}  // namespace gradus
