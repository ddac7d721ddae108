#include "gradus/optim/sgd.h"

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/optim/detail/normal.h"

namespace gradus::optim {

namespace {
std::vector<const char*> state_names(const SGDOptions& options) {
  return options.momentum != 0 ? std::vector<const char*>{"momentum_buffer"} : std::vector<const char*>{};
}
}  // namespace

SGD::SGD(std::vector<Tensor> parameters, SGDOptions options)
    : SGD(detail::one_group(std::move(parameters)), std::move(options)) {}

SGD::SGD(std::vector<ParameterGroup> groups, SGDOptions options)
    : Optimizer("SGD", std::move(groups), options.lr, options.weight_decay, state_names(options)),
      momentum_(options.momentum),
      dampening_(options.dampening),
      nesterov_(options.nesterov) {
  check(momentum_ >= 0 && std::isfinite(momentum_), "SGD: expects a momentum of 0 or more, got {}",
        momentum_);
  check(dampening_ >= 0 && dampening_ <= 1, "SGD: expects a dampening from 0 to 1, got {}", dampening_);
  check(!nesterov_ || (momentum_ > 0 && dampening_ == 0),
        "SGD: Nesterov needs a momentum above 0 and no dampening, got momentum {} and dampening {}",
        momentum_, dampening_);
}

void SGD::update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
                 std::int64_t end) const {
  dispatch_floating("SGD", gradient, [&]<class T>() {
    const T lr = static_cast<T>(by.lr), decay = static_cast<T>(by.weight_decay),
            momentum = static_cast<T>(momentum_);
    const T fresh = by.step == 1 ? T{1} : static_cast<T>(1 - dampening_);
    const T* const dw = gradient.data<T>();
    T* const w = slot.parameter.array().mutable_data<T>();
    T* const buffer = slot.state.empty() ? nullptr : slot.state[0].mutable_data<T>();
    for (std::int64_t i = begin; i < end; ++i) {
      T g = dw[i] + decay * w[i];
      if (buffer != nullptr) {
        buffer[i] = momentum * buffer[i] + fresh * g;
        if (g == 0) buffer[i] = detail::or_zero(buffer[i]);
        g = nesterov_ ? g + momentum * buffer[i] : buffer[i];
      }
      w[i] -= lr * g;
    }
  });
}

}  // namespace gradus::optim
