#include "gradus/optim/adam.h"

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::optim {

namespace {
enum State { kExpAvg, kExpAvgSq };  // m and v, by PyTorch's names

AdamOptions with_adam_names(const AdamWOptions& options) {
  return {.lr = options.lr, .betas = options.betas, .eps = options.eps, .weight_decay = options.weight_decay};
}
}  // namespace

Adam::Adam(const char* name, std::vector<ParameterGroup> groups, const AdamOptions& options, bool decoupled)
    : Optimizer(name, std::move(groups), options.lr, options.weight_decay, {"exp_avg", "exp_avg_sq"}),
      betas_(options.betas),
      eps_(options.eps),
      decoupled_(decoupled) {
  detail::check_betas(name, betas_);
  detail::check_eps(name, eps_);
}

Adam::Adam(std::vector<Tensor> parameters, AdamOptions options)
    : Adam("Adam", detail::one_group(std::move(parameters)), options, false) {}
Adam::Adam(std::vector<ParameterGroup> groups, AdamOptions options)
    : Adam("Adam", std::move(groups), options, false) {}

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options)
    : Adam("AdamW", detail::one_group(std::move(parameters)), with_adam_names(options), true) {}
AdamW::AdamW(std::vector<ParameterGroup> groups, AdamWOptions options)
    : Adam("AdamW", std::move(groups), with_adam_names(options), true) {}

void Adam::update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
                  std::int64_t end) const {
  dispatch_floating("Adam", gradient, [&]<class T>() {
    const double t = static_cast<double>(by.step);
    const kernels::AdamStep<T> step{
        .lr = by.lr,
        .beta1 = betas_.first,
        .beta2 = betas_.second,
        .eps = eps_,
        .weight_decay = by.weight_decay,
        .bias_correction1 = 1 - std::pow(betas_.first, t),
        .bias_correction2_sqrt = std::sqrt(1 - std::pow(betas_.second, t)),
        .decoupled = decoupled_,
    };
    kernels::table<T>().adam(
        end - begin, step, gradient.data<T>() + begin, slot.parameter.array().mutable_data<T>() + begin,
        slot.state[kExpAvg].mutable_data<T>() + begin, slot.state[kExpAvgSq].mutable_data<T>() + begin);
  });
}

}  // namespace gradus::optim
