#include "gradus/nn/recurrent/lstm.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

LSTM::LSTM(const RecurrentOptions& options)
    : Module("LSTM"), options_(options), layers_(recurrent_layers(*this, options, 4)) {}

LSTMOutput LSTM::operator()(const Tensor& x, const LSTMState& state) const {
  const Scope scope(path());
  expect_sequence("LSTM", "x", x, options_.input_size, layers_[0].weight_ih.dtype());
  check(x.size(1) > 0, "LSTM: expects x of one position or more, got {}", x.shape());
  const Tensor first_h = first_state(*this, options_, "h", state.h, x),
               first_c = first_state(*this, options_, "c", state.c, x);
  Tensor y = x;
  std::vector<Tensor> last_h, last_c;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const RecurrentLayer& w = layers_[i];
    Tensor h = first_h.select(0, static_cast<std::int64_t>(i)),
           c = first_c.select(0, static_cast<std::int64_t>(i));
    if (i > 0) y = dropout(y, options_.dropout, is_training());
    y = run_positions(w, y, [&](const Tensor& input) {
      const std::vector<Tensor> gates = chunk(input + linear(h, w.weight_hh, w.bias_hh), 4, -1);
      const Tensor in = sigmoid(gates[0]), f = sigmoid(gates[1]), g = tanh(gates[2]), o = sigmoid(gates[3]);
      c = f * c + in * g;
      return h = o * tanh(c);
    });
    last_h.push_back(h);
    last_c.push_back(c);
  }
  return {report(y), {stack(last_h), stack(last_c)}};
}

}  // namespace gradus::nn
