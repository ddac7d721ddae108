// kl_div (Kullback & Leibler 1951), elementwise. x: log-probabilities; p: the target's probabilities; g as in
// loss.cpp.
//   loss = p (log p - x), 0 where p is 0
//   dx   = -g p
//   dt   = g (log p + 1 - x)         for a target t = p
//        = g p (log p + 1 - x)       for a target t = log p
//   saves x, p and log p

#include <cmath>
#include <limits>

#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/loss/pair.h"

namespace gradus {

namespace {

constexpr const char* kKlDiv = "kl_div";

/// p (log p - x + more), 0 where p is 0: there x and log p may be -inf.
Array weighed(const Array& p, const Array& log_p, const Array& x, double more) {
  const Array a = p.contiguous(), b = log_p.contiguous(), c = x.contiguous(),
              y = Array::empty(x.shape(), x.dtype());
  dispatch_floating(kKlDiv, x, [&]<class T>() {
    const T *const pp = a.data<T>(), *const pl = b.data<T>(), *const px = c.data<T>();
    T* const py = y.mutable_data<T>();
    const T extra = static_cast<T>(more);
    parallel_rows(y.numel(), 1, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const bool nothing = pp[i] == 0 && px[i] < std::numeric_limits<T>::infinity();  // a NaN shows
        py[i] = nothing ? T{0} : pp[i] * (pl[i] - px[i] + extra);
      }
    });
  });
  return y;
}

/// The gradients as a formula of x, the target t and the gradient g of each loss.
std::vector<Tensor> derivative(const Tensor& g, const Tensor& x, const Tensor& t, bool log_target,
                               const Taped& of) {
  const Tensor p = log_target ? exp(t) : t, dx = of[0] ? p * -g : Tensor();
  if (!of[1]) return {dx, Tensor()};
  if (!log_target) return {dx, (log(t) - x + 1) * g};
  const Tensor nothing = (p == 0) & (x < INFINITY);  // as in `weighed`
  return {dx, p * masked_fill(t - x + 1, nothing, 0) * g};
}

}  // namespace

Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction, Flag log_target) {
  check_pair(kKlDiv, "input", input, target);
  const Array x = input.array(), t = target.array();
  const Array p = log_target ? array::unary(kKlDiv, kernels::Unary::exp, t) : t;
  const Array log_p = log_target ? t : array::unary(kKlDiv, kernels::Unary::log, t);
  return record(
      kKlDiv, reduce(weighed(p, log_p, x, 0), reduction), {&input, &target},
      [=, x = Saved(x), p = Saved(p), log_p = Saved(log_p)]<class V>(const V& dy, auto of) -> GradsOf<V> {
        const V g = grad_of_each(dy, reduction, x->numel());
        if constexpr (kTaped<V>) {
          return derivative(g, of.in(0, x), of.in(1, log_target ? log_p : p), log_target, of);
        } else {
          Array dx, dt;
          if (of[0]) dx = array::mul(*p, array::neg(g));
          if (of[1] && log_target) dt = array::mul(weighed(*p, *log_p, *x, 1), g);
          if (of[1] && !log_target)
            dt = array::mul(array::binary(kKlDiv, kernels::Binary::add, array::sub(*log_p, *x), 1), g);
          return {dx, dt};
        }
      });
}

}  // namespace gradus
