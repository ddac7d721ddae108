// Losses between two tensors of one shape (pair.h). g is the gradient of an element's loss: that of the
// result, divided by the number of elements for a mean.
//
// mse_loss, elementwise
//   loss = (x - y)^2
//   dx   = 2 g (x - y),   dy = -dx
//   saves x - y
//
// binary_cross_entropy_with_logits, elementwise, s = 1 / (1 + exp(-x))
//   loss = -y log s - (1 - y) log(1 - s)
//        = |x| w + log(1 + exp(-|x|)), which never overflows      w = 1 - y where x > 0, y elsewhere
//   dx   = g (s - y),   dy = -g x
//   saves x and y
// w is the weight of the outcome that x votes against. Where it is 0 an infinite x costs nothing.
//
// For empty tensors the sum is 0 and the mean NaN.

#include <cmath>

#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/loss/pair.h"

namespace gradus {

namespace {

using kernels::Unary;

constexpr const char* kBce = "binary_cross_entropy_with_logits";

/// Names the first bad one of the targets y [shape] from `at` on.
template <class T>
[[noreturn]] void refuse_target(const T* y, std::int64_t at, const Shape& shape) {
  while (y[at] >= 0 && y[at] <= 1) ++at;
  Shape index = shape;
  std::int64_t rest = at;
  for (int axis = shape.size() - 1; axis >= 0; rest /= shape[axis--]) index[axis] = rest % shape[axis];
  fail_with("{}: target {} at {} of {} is not in 0 .. 1: it is the probability of the class", kBce, y[at],
            index, shape);
}

/// |x| w, and the check of y in [0, 1].
Array cost_of_wrong(const Array& logits, const Array& target) {
  const Array x = logits.contiguous(), y = target.contiguous(), cost = Array::empty(x.shape(), x.dtype());
  dispatch_floating(kBce, x, [&]<class T>() {
    const T *const px = x.data<T>(), *const py = y.data<T>();
    T* const out = cost.mutable_data<T>();
    const auto& kernels = kernels::table<T>();
    parallel_rows(x.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t n = end - begin;
      if (!(kernels.min(n, py + begin) >= 0 && kernels.max(n, py + begin) <= 1))  // also NaN
        refuse_target(py, begin, x.shape());
      for (std::int64_t i = begin; i < end; ++i) {
        const T w = px[i] > 0 ? 1 - py[i] : py[i];
        out[i] = w == 0 ? T{0} : std::abs(px[i]) * w;
      }
    });
  });
  return cost;
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_pair("mse_loss", "input", input, target);
  const Array difference = array::sub(input.array(), target.array());
  Array loss = reduce(array::mul(difference, difference), reduction);
  return record("mse_loss", loss, {&input, &target}, [=]<class V>(const V& dy, auto of) -> GradsOf<V> {
    const V g = grad_of_each(dy, reduction, difference.numel());
    const auto& d = difference_of(of, difference);
    return {of[0] ? formula::mul(d, formula::mul(g, 2.0)) : V(),
            of[1] ? formula::mul(d, formula::mul(g, -2.0)) : V()};
  });
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction) {
  check_pair(kBce, "logits", logits, target);
  const Array x = logits.array(), y = target.array(), cost = cost_of_wrong(x, y);
  const Array tail = array::unary(
      kBce, Unary::log1p, array::unary(kBce, Unary::exp, array::neg(array::unary(kBce, Unary::abs, x))));
  return record(kBce, reduce(array::add(cost, tail), reduction), {&logits, &target},
                [reduction, x = Saved(x), y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  const V g = grad_of_each(dy, reduction, x->numel());
                  const auto error = [&] {
                    if constexpr (kTaped<V>)
                      return sigmoid(of.in(0, x)) - of.in(1, y);
                    else
                      return array::sub(array::unary(kBce, Unary::sigmoid, *x), *y);
                  };
                  return {of[0] ? formula::mul(error(), g) : V(),
                          of[1] ? formula::mul(of.in(0, x), formula::neg(g)) : V()};
                });
}

}  // namespace gradus
