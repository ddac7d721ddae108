#pragma once
// check_module(): the gradients of a module's input and of each of its parameters against central
// differences.
//
//   const DefaultDType guard(f64);
//   const nn::Linear layer(3, 2);
//   check_module(layer, {randn({4, 3})}, [&](const Tensors& in) { return layer(in[0]); });

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gradus/nn/module/init.h"
#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

using Tensors = std::vector<Tensor>;

/// `call` must be deterministic; inputs and parameters are f64 and small: every element is moved.
inline void check_module(const nn::Module& model, Tensors inputs,
                         const std::function<Tensor(const Tensors&)>& call, double rtol = 1e-6) {
  std::vector<StateDict::Entry> leaves = model.named_parameters();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_floating(inputs[i].dtype())) inputs[i] = inputs[i].detach().clone().requires_grad_();
    if (inputs[i].requires_grad()) leaves.emplace_back("input " + std::to_string(i), inputs[i]);
  }
  // Keys of attention have gradient 0 for their bias, so derivatives are compared with the largest of all.
  Tensor weights;
  const auto loss = [&] {
    const Tensor y = call(inputs);
    if (!weights.defined()) weights = randn_like(y);
    return (y * weights).sum();
  };
  for (const auto& [name, leaf] : leaves) leaf.zero_grad();
  loss().backward();

  double largest = 0;
  for (const StateDict::Entry& entry : leaves) {  // no structured binding: INFO captures it, clang 14 cannot
    const Tensor& leaf = entry.second;
    INFO(entry.first);
    REQUIRE(leaf.grad().defined());
    REQUIRE(leaf.dtype() == f64);
    for (const double g : leaf.grad().to_vector<double>()) largest = std::max(largest, std::abs(g));
  }
  REQUIRE(largest > 0);

  const NoGrad guard;
  const double eps = 1e-6;
  for (const StateDict::Entry& entry : leaves) {
    const Tensor& leaf = entry.second;
    const std::vector<double> gradient = leaf.grad().to_vector<double>();
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double before = leaf.span<double>()[i];
      leaf.mutable_span<double>()[i] = before + eps;
      const double up = loss().item();
      leaf.mutable_span<double>()[i] = before - eps;
      const double down = loss().item();
      leaf.mutable_span<double>()[i] = before;
      const double numeric = (up - down) / (2 * eps);
      INFO(entry.first, " element ", i, ": analytic ", gradient[i], ", numeric ", numeric);
      CHECK(std::abs(gradient[i] - numeric) <= rtol * largest);
    }
  }
}

/// Sets every parameter to N(0, 1/4), including biases and norms' weights, so that each has an effect.
inline void randomize(const nn::Module& model) {
  for (const auto& [name, w] : model.named_parameters()) nn::init::normal_(w, 0, 0.5);
}

/// The largest difference between two tensors of one shape.
inline double max_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  return (a.detach() - b.detach()).abs().max().item();
}

/// Lists "weight [2, 3]", "bias [2]", ... in order.
inline std::vector<std::string> keys_and_shapes(const nn::Module& model) {
  std::vector<std::string> lines;
  for (const auto& [key, values] : model.state_dict()) lines.push_back(key + " " + to_string(values.shape()));
  return lines;
}

}  // namespace gradus::test
