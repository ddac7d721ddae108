#include "gradus/nn/recurrent/recurrent.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

std::vector<RecurrentLayer> recurrent_layers(const Module& module, const RecurrentOptions& o,
                                             std::int64_t gates) {
  const std::string kind = module.kind();
  expect_positive(kind.c_str(), "input_size", o.input_size);
  expect_positive(kind.c_str(), "hidden_size", o.hidden_size);
  expect_positive(kind.c_str(), "layers", o.layers);
  expect_probability(kind.c_str(), "dropout", o.dropout);
  const double bound = 1 / std::sqrt(static_cast<double>(o.hidden_size));
  const std::int64_t rows = gates * o.hidden_size;
  std::vector<RecurrentLayer> layers(static_cast<std::size_t>(o.layers));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto make = [&](const char* name, const Shape& shape) {
      return module.parameter(fmt::format("{}_l{}", name, i), init::uniform_(empty(shape), -bound, bound));
    };
    layers[i].weight_ih = make("weight_ih", {rows, i == 0 ? o.input_size : o.hidden_size});
    layers[i].weight_hh = make("weight_hh", {rows, o.hidden_size});
    if (!o.bias) continue;
    layers[i].bias_ih = make("bias_ih", {rows});
    layers[i].bias_hh = make("bias_hh", {rows});
  }
  return layers;
}

Tensor first_state(const Module& module, const RecurrentOptions& o, const char* name, const Tensor& given,
                   const Tensor& x) {
  const Shape shape{o.layers, x.size(0), o.hidden_size};
  if (!given.defined()) return zeros(shape, x.dtype());
  check(given.shape() == shape && given.dtype() == x.dtype(),
        "{}: expects {} [layers, B, H] of {} {}, got {} {}", module.kind(), name, x.dtype(), shape,
        given.dtype(), given.shape());
  return given;
}

Tensor run_positions(const RecurrentLayer& layer, const Tensor& x,
                     const std::function<Tensor(const Tensor& input)>& step) {
  const Tensor inputs = linear(x, layer.weight_ih, layer.bias_ih);  // of all positions at once
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < x.size(1); ++t) states.push_back(step(inputs.select(1, t)));
  return stack(states, 1);
}

}  // namespace gradus::nn
