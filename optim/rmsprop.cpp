#include "gradus/optim/rmsprop.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/optim/detail/normal.h"

namespace gradus::optim {

namespace {
/// The names of a parameter's state, in this order.
std::vector<const char*> state_names(const RMSpropOptions& options) {
  std::vector<const char*> names = {"square_avg"};
  if (options.momentum != 0) names.push_back("momentum_buffer");
  if (options.centered) names.push_back("grad_avg");
  return names;
}
}  // namespace

RMSprop::RMSprop(std::vector<Tensor> parameters, RMSpropOptions options)
    : RMSprop(detail::one_group(std::move(parameters)), std::move(options)) {}

RMSprop::RMSprop(std::vector<ParameterGroup> groups, RMSpropOptions options)
    : Optimizer("RMSprop", std::move(groups), options.lr, options.weight_decay, state_names(options)),
      alpha_(options.alpha),
      eps_(options.eps),
      momentum_(options.momentum),
      centered_(options.centered) {
  check(alpha_ >= 0 && alpha_ < 1, "RMSprop: expects an alpha in [0, 1), got {}", alpha_);
  check(momentum_ >= 0 && std::isfinite(momentum_), "RMSprop: expects a momentum of 0 or more, got {}",
        momentum_);
  detail::check_eps("RMSprop", eps_);
}

void RMSprop::update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
                     std::int64_t end) const {
  dispatch_floating("RMSprop", gradient, [&]<class T>() {
    const T lr = static_cast<T>(by.lr), decay = static_cast<T>(by.weight_decay),
            alpha = static_cast<T>(alpha_), rest = static_cast<T>(1 - alpha_), eps = static_cast<T>(eps_),
            momentum = static_cast<T>(momentum_), least = detail::least_square<T>(eps_, 1 - alpha_);
    const T* const dw = gradient.data<T>();
    T* const w = slot.parameter.array().mutable_data<T>();
    T* const square = slot.state[0].mutable_data<T>();
    T* const buffer = momentum_ != 0 ? slot.state[1].mutable_data<T>() : nullptr;
    T* const mean = centered_ ? slot.state.back().mutable_data<T>() : nullptr;
    for (std::int64_t i = begin; i < end; ++i) {
      const T g = dw[i] + decay * w[i];
      T v = square[i] = detail::or_zero(alpha * square[i] + rest * g * g, least);
      if (mean != nullptr) {
        mean[i] = detail::or_zero(alpha * mean[i] + rest * g, least);
        v = std::max(v - mean[i] * mean[i], T{0});  // rounding may make it negative; NaN stays
      }
      T step = g / (std::sqrt(v) + eps);
      if (buffer != nullptr) {
        step = momentum * buffer[i] + step;
        if (g == 0) step = detail::or_zero(step);
        buffer[i] = step;
      }
      w[i] -= lr * step;
    }
  });
}

}  // namespace gradus::optim
