// Functions of one number, applied to every element. Each line is a derivation: dx = dy f'(x).
// kernels/body/functions.h: value, derivative
//
//   neg     y = -x           dx = -dy                 saves nothing
//   abs     y = |x|          dx = dy sign(x)          saves x; 0 at 0
//   square  y = x^2          dx = 2 dy x              saves x
//   sqrt    y = x^1/2        dx = dy / (2 y)          saves y
//   rsqrt   y = x^-1/2       dx = -1/2 dy y^3         saves y
//   exp     y = e^x          dx = dy y                saves y
//   log     y = ln x         dx = dy / x              saves x
//   log1p   y = ln(1 + x)    dx = dy / (1 + x)        saves x
//   sin     y = sin x        dx = dy cos x            saves x
//   cos     y = cos x        dx = -dy sin x           saves x
//   erf     y = erf x        dx = dy 2/sqrt(pi) e^(-x^2)   saves x
//   log2    y = ln x / ln 2  dx = dy / (x ln 2)       saves x
//   expm1   y = e^x - 1      dx = dy (y + 1)          saves y
//   reciprocal  y = 1 / x    dx = -dy y^2             saves y
//   sign, floor, ceil, round are flat between their steps: dx = 0, saves nothing
// (Saving y where the derivative can be had from it often costs nothing: many a next op keeps y anyway.)
//
// For second derivatives the same formulas are made of ops, with x and y on the tape; sign(x) is a constant.

#include <numbers>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/ops.h"

namespace gradus {

using kernels::Binary;
using kernels::Unary;
using kernels::UnaryGrad;

namespace {

Array plus_one(const Array& x) { return array::binary("add", Binary::add, x, 1); }
Tensor plus_one(const Tensor& x) { return x + 1; }
Array squared(const Array& x) { return array::unary("square", Unary::square, x); }
Tensor squared(const Tensor& x) { return square(x); }

/// An op whose derivative has a kernel that reads the input; `slope` is the derivative in ops.
template <class Slope>
Tensor with_kernel(const char* op, Unary f, UnaryGrad df, const Tensor& x, Slope slope) {
  return record(op, array::unary(op, f, x.array()), {&x},
                [op, df, slope, x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dy * slope(of.in(0, x))};
                  else
                    return {array::unary_grad(op, df, *x, dy)};
                });
}

/// An op whose derivative is 0 wherever it has one.
Tensor steps(const char* op, Unary f, const Tensor& x) {
  return record(op, array::unary(op, f, x.array()), {&x}, []<class V>(const V& dy, auto) -> GradsOf<V> {
    return {V(Array::zeros(dy.shape(), dy.dtype()))};
  });
}

}  // namespace

Tensor neg(const Tensor& x) {
  return record("neg", array::neg(x.array()), {&x},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {formula::neg(dy)}; });
}

Tensor operator-(const Tensor& x) { return neg(x); }

Tensor abs(const Tensor& x) {
  return record("abs", array::unary("abs", Unary::abs, x.array()), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {formula::mul(dy, V(array::unary("abs", Unary::sign, *x)))};
                });
}

Tensor square(const Tensor& x) {
  return record("square", array::unary("square", Unary::square, x.array()), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {formula::mul(formula::mul(dy, 2), of.in(0, x))};
                });
}

Tensor sqrt(const Tensor& x) {
  const Array y = array::unary("sqrt", Unary::sqrt, x.array());
  return record("sqrt", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {formula::div(formula::mul(dy, 0.5), of.out(y))};
  });
}

Tensor rsqrt(const Tensor& x) {
  const Array y = array::unary("rsqrt", Unary::rsqrt, x.array());
  return record("rsqrt", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {formula::mul(formula::mul(formula::mul(dy, -0.5), of.out(y)), squared(of.out(y)))};
  });
}

Tensor exp(const Tensor& x) {
  const Array y = array::unary("exp", Unary::exp, x.array());
  return record("exp", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {formula::mul(dy, of.out(y))};
  });
}

Tensor log(const Tensor& x) {
  return record("log", array::unary("log", Unary::log, x.array()), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {formula::div(dy, of.in(0, x))};
                });
}

Tensor log1p(const Tensor& x) {
  return record("log1p", array::unary("log1p", Unary::log1p, x.array()), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {formula::div(dy, plus_one(of.in(0, x)))};
                });
}

Tensor log2(const Tensor& x) {
  return record("log2", array::unary("log2", Unary::log2, x.array()), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {formula::div(dy, formula::mul(of.in(0, x), std::numbers::ln2))};
                });
}

Tensor expm1(const Tensor& x) {
  const Array y = array::unary("expm1", Unary::expm1, x.array());
  return record("expm1", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {formula::mul(dy, plus_one(of.out(y)))};
  });
}

Tensor reciprocal(const Tensor& x) {
  const Array y = array::unary("reciprocal", Unary::reciprocal, x.array());
  return record("reciprocal", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
    return {formula::neg(formula::mul(dy, squared(of.out(y))))};
  });
}

Tensor sign(const Tensor& x) { return steps("sign", Unary::sign, x); }
Tensor floor(const Tensor& x) { return steps("floor", Unary::floor, x); }
Tensor ceil(const Tensor& x) { return steps("ceil", Unary::ceil, x); }
Tensor round(const Tensor& x) { return steps("round", Unary::round, x); }

Tensor sin(const Tensor& x) {
  return with_kernel("sin", Unary::sin, UnaryGrad::sin, x, [](const Tensor& at) { return cos(at); });
}
Tensor cos(const Tensor& x) {
  return with_kernel("cos", Unary::cos, UnaryGrad::cos, x, [](const Tensor& at) { return -sin(at); });
}
Tensor erf(const Tensor& x) {
  return with_kernel("erf", Unary::erf, UnaryGrad::erf, x, [](const Tensor& at) {
    return exp(-square(formula::limited(at, 30))) * (2 * std::numbers::inv_sqrtpi);
  });
}

}  // namespace gradus
