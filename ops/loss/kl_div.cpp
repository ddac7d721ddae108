// kl_div (Kullback & Leibler 1951), elementwise. x: log-probabilities; p: the target's probabilities; g as in
// loss.cpp.
//   loss = p (log p - x), 0 where p is 0
//   dx   = -g p
//   dt   = g (log p + 1 - x)         for a target t = p
//        = g p (log p + 1 - x)       for a target t = log p
//   saves x, p and log p

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

}  // namespace

Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction, Flag log_target) {
  check_pair(kKlDiv, "input", input, target);
  const Array x = input.array(), t = target.array();
  const Array p = log_target ? array::unary(kKlDiv, kernels::Unary::exp, t) : t;
  const Array log_p = log_target ? t : array::unary(kKlDiv, kernels::Unary::log, t);
  return record(kKlDiv, reduce(weighed(p, log_p, x, 0), reduction), {&input, &target},
                [=, x = Saved(x), p = Saved(p), log_p = Saved(log_p)](const Array& dy, Needs needs) -> Grads {
                  const Array g = grad_of_each(dy, reduction, x->numel());
                  Array dx, dt;
                  if (needs[0]) dx = array::mul(*p, array::neg(g));
                  if (needs[1] && log_target) dt = array::mul(weighed(*p, *log_p, *x, 1), g);
                  if (needs[1] && !log_target)
                    dt =
                        array::mul(array::binary(kKlDiv, kernels::Binary::add, array::sub(*log_p, *x), 1), g);
                  return {dx, dt};
                });
}

}  // namespace gradus
