#include "gradus/optim/radam.h"

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/kernels/kernels.h"
#include "gradus/optim/detail/normal.h"

namespace gradus::optim {

RAdam::RAdam(std::vector<Tensor> parameters, RAdamOptions options)
    : RAdam(detail::one_group(std::move(parameters)), std::move(options)) {}

RAdam::RAdam(std::vector<ParameterGroup> groups, RAdamOptions options)
    : Optimizer("RAdam", std::move(groups), options.lr, options.weight_decay, {"exp_avg", "exp_avg_sq"}),
      betas_(options.betas),
      eps_(options.eps) {
  detail::check_betas("RAdam", betas_);
  detail::check_eps("RAdam", eps_);
}

void RAdam::update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
                   std::int64_t end) const {
  const double t = static_cast<double>(by.step), power2 = std::pow(betas_.second, t);
  const double correction1 = 1 - std::pow(betas_.first, t), root2 = std::sqrt(1 - power2);
  const double n = 2 / (1 - betas_.second) - 1, rho = n - 2 * t * power2 / (1 - power2);
  dispatch_floating("RAdam", gradient, [&]<class T>() {
    const T* const dw = gradient.data<T>() + begin;
    T* const w = slot.parameter.array().mutable_data<T>() + begin;
    T* const m = slot.state[0].mutable_data<T>() + begin;
    T* const v = slot.state[1].mutable_data<T>() + begin;
    if (rho > 5) {
      // Adam's step, except that eps is added to sqrt(v), not to sqrt(vhat).
      const double r = std::sqrt((rho - 4) * (rho - 2) * n / ((n - 4) * (n - 2) * rho));
      kernels::table<T>().adam(end - begin,
                               {.lr = by.lr * r,
                                .beta1 = betas_.first,
                                .beta2 = betas_.second,
                                .eps = eps_ / root2,
                                .weight_decay = by.weight_decay,
                                .bias_correction1 = correction1,
                                .bias_correction2_sqrt = root2,
                                .decoupled = false},
                               dw, w, m, v);
      return;
    }
    const T rate = static_cast<T>(by.lr / correction1), decay = static_cast<T>(by.weight_decay);
    const T beta1 = static_cast<T>(betas_.first), rest1 = static_cast<T>(1 - betas_.first);
    const T beta2 = static_cast<T>(betas_.second), rest2 = static_cast<T>(1 - betas_.second);
    const T least = detail::least_square<T>(eps_, 1 - betas_.second);
    for (std::int64_t i = 0; i < end - begin; ++i) {
      const T g = dw[i] + decay * w[i];
      m[i] = detail::or_zero(beta1 * m[i] + rest1 * g, least);
      v[i] = detail::or_zero(beta2 * v[i] + rest2 * g * g, least);
      w[i] -= rate * m[i];
    }
  });
}

}  // namespace gradus::optim
