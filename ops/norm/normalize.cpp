// Vectors of length 1, and the angle between two. Along the axis:
//
//   normalize           y_i = x_i / max(|x|_p, eps)
//   cosine_similarity   y = sum_i a_i b_i / (max(|a|_2, eps) max(|b|_2, eps))
//
// Compositions: no derivatives of their own.

#include <cmath>

#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

/// A vector whose norm is more than its dtype holds is divided by a power of 2 first, and eps too.
Tensor unit(const Tensor& x, Scalar p, int axis, double eps) {
  if (x.numel() == 0) return clone(x);
  const Tensor length = norm(x, p, axis, true);
  const Tensor too_long = isinf(length);
  if (!too_long.any()) return x / clamp(length, eps, INFINITY);
  const Tensor one = ones({}, x.dtype()), scale = where(too_long, x.dtype() == f32 ? 0x1p-64 : 0x1p-512, one);
  const Tensor scaled = x * scale;
  return scaled / maximum(norm(scaled, p, axis, true), scale * eps);
}

void check_eps(const char* op, double eps) {
  check(eps >= 0 && eps < INFINITY, "{}: expects eps of 0 or more, got {}", op, eps);
}

}  // namespace

Tensor normalize(const Tensor& x, Scalar p, Int axis, double eps) {
  floating_operand("normalize", x);
  const double order = p.as<double>();
  check((order == 1 && p.kind() != Scalar::Kind::logical) || order == 2 || order == INFINITY,
        "normalize: expects p = 1, 2 or INFINITY, got {}: the axis comes after it, as in normalize(x, 2, -1)",
        p);
  check_eps("normalize", eps);
  return unit(x, p, normalize_axis("normalize", axis, x.dim()), eps);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, Int axis, double eps) {
  const char* const op = "cosine_similarity";
  array::check_operands(op, a.array(), b.array());
  check_floating(op, a.array());
  check_eps(op, eps);
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  const int at = normalize_axis(op, axis, shape.size());
  return sum(unit(expand(a, shape), 2, at, eps) * unit(expand(b, shape), 2, at, eps), at);
}

}  // namespace gradus
