#include "gradus/ops/norm/norm_derivative.h"

#include "gradus/ops/detail/formula.h"

namespace gradus {

namespace {

Tensor mean_of(const Tensor& rows) { return rows.mean(-1, /*keepdim=*/true); }

Tensor rstd_of(const NormOfRows& norm, const Tensor& x);

Tensor rstd_gradient(const NormOfRows& norm, const Tensor& d, const Tensor& x) {
  const Tensor r = rstd_of(norm, x);
  const auto c = static_cast<double>(x.size(-1));
  return norm.normalize(x, norm.eps) * ((d * r) * (r * (-1 / c)));
}

/// rstd [..., 1], which is known, as a function of x.
Tensor rstd_of(const NormOfRows& norm, const Tensor& x) {
  Shape column = x.shape();
  column[x.dim() - 1] = 1;
  return record(norm.op, norm.rstd.reshape(column), {&x},
                [norm, x = Saved(x.array())]<class V>(const V& d, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {rstd_gradient(norm, d, of.in(0, x))};
                  else
                    return {rstd_gradient(norm, Tensor(d), Tensor(*x)).array()};
                });
}

Tensor dx_of(const NormOfRows& norm, const Tensor& dn, const Tensor& x);

/// The gradient of x in dx(dn, x).
Tensor dx_gradient(const NormOfRows& norm, const Tensor& d, const Tensor& dn, const Tensor& x,
                   const Tensor& dx) {
  const Tensor xhat = norm.normalize(x, norm.eps), r = rstd_of(norm, x);
  const Tensor e = d * -(r * mean_of(dn * xhat)) + dn * -(r * mean_of(d * xhat));
  return dx_of(norm, e, x) - xhat * (r * mean_of(d * dx));
}

/// dx(dn, x).
Tensor dx_of(const NormOfRows& norm, const Tensor& dn, const Tensor& x) {
  const Array dx = norm.dx(norm, dn.array(), x.array());
  return record(norm.op, dx, {&dn, &x},
                [norm, dn = Saved(dn.array()), x = Saved(x.array()), dx = Saved(dx)]<class V>(
                    const V& d, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    const Tensor at = of.in(1, x);
                    return {of[0] ? dx_of(norm, d, at) : Tensor(),
                            of[1] ? dx_gradient(norm, d, of.in(0, dn), at, of.out(dx)) : Tensor()};
                  } else {
                    return {of[0] ? norm.dx(norm, d, *x) : Array(),
                            of[1] ? dx_gradient(norm, Tensor(d), Tensor(*dn), Tensor(*x), Tensor(*dx)).array()
                                  : Array()};
                  }
                });
}

}  // namespace

NormDerivative norm_derivative(const NormOfRows& norm, const Tensor& dy, const Saved& x, const Saved& w,
                               const Taped& of) {
  const Tensor at = of.in(0, x);
  NormDerivative out;
  if (of[0]) out.dx = dx_of(norm, w->defined() ? dy * of.in(1, w) : dy, at);
  if (of[1]) out.dweight = formula::sum_to(dy * norm.normalize(at, norm.eps), {at.size(-1)});
  return out;
}

}  // namespace gradus
