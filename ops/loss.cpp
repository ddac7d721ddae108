// Losses between two tensors of one shape. g is the gradient of an element's loss: that of the result,
// divided by the number of elements for a mean.
//
// mse_loss, elementwise
//   loss = (x - y)^2
//   dx   = 2 g (x - y),   dy = -dx
//   saves x - y
//
// binary_cross_entropy_with_logits, elementwise, s = 1 / (1 + exp(-x))
//   loss = -y log s - (1 - y) log(1 - s) = max(x, 0) - x y + log(1 + exp(-|x|)), which never overflows
//   dx   = g (s - y),   dy = -g x
//   saves x and y

#include "gradus/core/record.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Unary;

void check_pair(const char* op, const char* name_x, const Tensor& x, const Tensor& y) {
  const Array &a = operand(op, x), &b = operand(op, y);
  check(is_floating(a.dtype()), "{}: expects f32 or f64, got {} {}: convert with .to(f32)", op, a.dtype(),
        a.shape());
  check(a.shape() == b.shape(),
        "{}: {} {} and target {} must have the same shape: reshape() or expand() one of them", op, name_x,
        a.shape(), b.shape());
  eager::check_same_dtype(op, a, b);
}

/// The mean of nothing is 0 * inf: NaN.
Array reduce(const Array& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  const Array total = eager::sum(losses);
  return reduction == Reduction::sum ? total : eager::mul(total, 1.0 / static_cast<double>(losses.numel()));
}

/// The gradient of each of n losses, [] or one each.
Array spread(const Array& dy, Reduction reduction, std::int64_t n) {
  return reduction == Reduction::mean ? eager::mul(dy, 1.0 / static_cast<double>(n)) : dy;
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_pair("mse_loss", "input", input, target);
  const Array difference = eager::sub(input.array(), target.array());
  Array loss = reduce(eager::mul(difference, difference), reduction);
  return record("mse_loss", loss, {&input, &target}, [=](const Array& dy, Needs needs) -> Grads {
    const Array g = spread(dy, reduction, difference.numel());
    Array dx, dtarget;
    if (needs[0]) dx = eager::mul(difference, eager::mul(g, 2.0));
    if (needs[1]) dtarget = eager::mul(difference, eager::mul(g, -2.0));
    return {dx, dtarget};
  });
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction) {
  const char* const op = "binary_cross_entropy_with_logits";
  check_pair(op, "logits", logits, target);
  const Array x = logits.array(), y = target.array();
  const Array tail = eager::unary(op, Unary::log1p,
                                  eager::unary(op, Unary::exp, eager::neg(eager::unary(op, Unary::abs, x))));
  const Array positive = eager::sub(eager::unary(op, Unary::relu, x), eager::mul(x, y));
  return record(op, reduce(eager::add(positive, tail), reduction), {&logits, &target},
                [op, reduction, x = Saved(x), y = Saved(y)](const Array& dy, Needs needs) -> Grads {
                  const Array g = spread(dy, reduction, x->numel());
                  Array dx, dtarget;
                  if (needs[0]) dx = eager::mul(eager::sub(eager::unary(op, Unary::sigmoid, *x), *y), g);
                  if (needs[1]) dtarget = eager::mul(*x, eager::neg(g));
                  return {dx, dtarget};
                });
}

}  // namespace gradus
