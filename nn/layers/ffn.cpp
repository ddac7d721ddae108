#include "gradus/nn/layers/ffn.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {
/// F, after a check of all options.
std::int64_t hidden_size(const FFNOptions& options) {
  expect_positive("FFN", "d_model", options.d_model);
  expect_probability("FFN", "dropout", options.dropout);
  if (options.d_ff == 0) return 4 * options.d_model;
  expect_positive("FFN", "d_ff", options.d_ff);
  return options.d_ff;
}
}  // namespace

FFN::FFN(const FFNOptions& options)
    : Module("FFN"),
      linear1(add("linear1", Linear(options.d_model, hidden_size(options), {.bias = options.bias}))),
      linear2(add("linear2", Linear(hidden_size(options), options.d_model, {.bias = options.bias}))),
      dropout(add("dropout", Dropout(options.dropout))),
      activation_(options.activation) {
  if (options.gated)
    linear3.emplace(add("linear3", Linear(options.d_model, hidden_size(options), {.bias = options.bias})));
}

Tensor FFN::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_last_axis("FFN", "x", x, linear1.weight.size(1), linear1.weight.dtype());
  Tensor hidden = linear1(x, activation_);  // act(linear1(x))
  if (linear3) hidden = hidden * (*linear3)(x);
  return report(linear2(dropout(hidden)));
}

}  // namespace gradus::nn
