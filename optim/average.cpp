#include "gradus/optim/average.h"

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::optim {

static void expect_same_keys(const StateDict& last, const StateDict& state, std::size_t number) {
  for (const auto& [key, values] : state)
    check(last.contains(key), "average: state {} has a tensor '{}', the last one has none", number, key);
  for (const auto& [key, values] : last) {
    const Tensor* const given = state.find(key);
    check(given != nullptr, "average: state {} has no tensor '{}', which the last one has", number, key);
    check(given->defined() && values.defined(), "average: '{}' is an undefined tensor", key);
    check(given->shape() == values.shape() && given->dtype() == values.dtype(),
          "average: '{}' is {} {} in state {}, and {} {} in the last", key, given->dtype(), given->shape(),
          number, values.dtype(), values.shape());
  }
}

StateDict average(const std::vector<StateDict>& states) {
  check(!states.empty(), "average: expects one state or more");
  const StateDict& last = states.back();
  for (std::size_t i = 0; i < states.size(); ++i) expect_same_keys(last, states[i], i);
  const NoGrad guard;
  StateDict mean;
  for (const auto& [key, values] : last) {
    if (!is_floating(values.dtype()) && !is_half(values.dtype())) {
      mean.set(key, values.clone());
      continue;
    }
    Tensor sum = zeros(values.shape(), f64);
    for (const StateDict& state : states) sum = sum + state.at(key).to(f64);
    mean.set(key, (sum / static_cast<double>(states.size())).to(values.dtype()));
  }
  return mean;
}

}  // namespace gradus::optim
