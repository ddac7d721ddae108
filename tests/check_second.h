#pragma once
// Gradients of gradients for check_op: of s = sum_i <u_i, g_i>, where g_i is the gradient of input i and u_i
// fixed random numbers. s is a scalar, so one more backward gives all its derivatives.

#include <vector>

#include "check_numbers.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

/// One entry per input of the op, or output for by_seed; empty for one that wants no gradient.
struct Second {
  std::vector<Values> gradients;  // g_i
  std::vector<Values> by_input;   // ds / dx_i
  std::vector<Values> by_seed;    // ds / dy_k, of the incoming gradients
};

inline double dot(const Values& a, const Values& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

/// The elements; zeros where no gradient arrives, as for a function that is linear or constant.
inline Values values_or_zeros(const Tensor& gradient, const Shape& shape) {
  return gradient.defined() ? gradient.to_vector<double>()
                            : Values(static_cast<std::size_t>(numel(shape)), 0.0);
}

/// Gradients of the inputs `x` from those of the outputs that require grad; undefined where none arrives.
inline std::vector<Tensor> gradients_of(const std::vector<Tensor>& outputs, const std::vector<Tensor>& x,
                                        const std::vector<Tensor>& seeds, bool create_graph) {
  std::vector<Tensor> total(x.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].requires_grad()) continue;
    const std::vector<Tensor> part = grad(
        outputs[k], x,
        {.grad_output = seeds[k], .retain_graph = true, .create_graph = create_graph, .allow_unused = true});
    for (std::size_t i = 0; i < x.size(); ++i)
      if (part[i].defined()) total[i] = total[i].defined() ? total[i] + part[i] : part[i];
  }
  return total;
}

/// The derivatives of s for the op's `outputs`; `inputs` are its leaves and constants, `seeds` leaves, and u
/// has the inputs' dtypes.
inline Second second_derivatives(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                                 const std::vector<Tensor>& seeds, const std::vector<Tensor>& u) {
  Second result{std::vector<Values>(inputs.size()), std::vector<Values>(inputs.size()),
                std::vector<Values>(outputs.size())};
  std::vector<Tensor> by;
  std::vector<Values*> place;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) {
      by.push_back(inputs[i]);
      place.push_back(&result.by_input[i]);
      which.push_back(i);
    }
  const std::vector<Tensor> first = gradients_of(outputs, by, seeds, /*create_graph=*/true);
  Tensor s;
  for (std::size_t j = 0; j < first.size(); ++j) {
    result.gradients[which[j]] = values_or_zeros(first[j], by[j].shape());
    if (!first[j].defined() || !first[j].requires_grad()) continue;  // flat everywhere: nothing to pass on
    const Tensor part = (first[j] * u[which[j]]).sum();
    s = s.defined() ? s + part : part;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].requires_grad()) {
      by.push_back(seeds[k]);
      place.push_back(&result.by_seed[k]);
    }
  std::vector<Tensor> found(by.size());
  if (s.defined()) found = grad(s, by, {.allow_unused = true});
  for (std::size_t j = 0; j < by.size(); ++j) *place[j] = values_or_zeros(found[j], by[j].shape());
  return result;
}

}  // namespace gradus::test
