#pragma once
// Second derivatives a second way: central differences of gradients.

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

/// H v as (g(w + h v) - g(w - h v)) / 2h, h v of length eps max(1, |w|). The parameters are f64 leaves; they
/// move in place and come back. Random numbers are the same in each call of the loss.
template <class Loss>
std::vector<Tensor> hvp_by_differences(const Loss& loss, const std::vector<Tensor>& parameters,
                                       const std::vector<Tensor>& v, double eps = 1e-5) {
  const auto length = [](const std::vector<Tensor>& xs) {
    double total = 0;
    for (const Tensor& x : xs) total += x.detach().square().sum().item();
    return std::sqrt(total);
  };
  const double h = eps * std::max(1.0, length(parameters)) / length(v);
  std::vector<Tensor> start;
  for (const Tensor& w : parameters) start.push_back(w.detach().clone());
  const Generator::State state = default_generator().state();
  const auto move = [&](double by) {
    const NoGrad guard;
    for (std::size_t i = 0; i < start.size(); ++i) parameters[i].copy_(start[i] + v[i] * by);
  };
  const auto gradients = [&](double by) {
    move(by);
    default_generator().set_state(state);
    return grad(loss(), parameters, {.allow_unused = true});
  };
  std::vector<Tensor> ahead = gradients(h);
  const std::vector<Tensor> behind = gradients(-h);
  move(0);
  default_generator().set_state(state);
  for (std::size_t i = 0; i < ahead.size(); ++i)
    ahead[i] = ahead[i].defined() ? (ahead[i] - behind[i]) / (2 * h) : zeros_like(start[i]);
  return ahead;
}

}  // namespace gradus::test
