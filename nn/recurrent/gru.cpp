#include "gradus/nn/recurrent/gru.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

GRU::GRU(const RecurrentOptions& options)
    : Module("GRU"), options_(options), layers_(recurrent_layers(*this, options, 3)) {}

GRUOutput GRU::operator()(const Tensor& x, const Tensor& h0) const {
  const Scope scope(path());
  expect_sequence("GRU", "x", x, options_.input_size, layers_[0].weight_ih.dtype());
  check(x.size(1) > 0, "GRU: expects x of one position or more, got {}", x.shape());
  const Tensor first = first_state(*this, options_, "h", h0, x);
  Tensor y = x;
  std::vector<Tensor> last;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const RecurrentLayer& w = layers_[i];
    Tensor h = first.select(0, static_cast<std::int64_t>(i));
    if (i > 0) y = dropout(y, options_.dropout, is_training());
    y = run_positions(w, y, [&](const Tensor& input) {
      const std::vector<Tensor> a = chunk(input, 3, -1), b = chunk(linear(h, w.weight_hh, w.bias_hh), 3, -1);
      const Tensor r = sigmoid(a[0] + b[0]), z = sigmoid(a[1] + b[1]), n = tanh(a[2] + r * b[2]);
      return h = (1 - z) * n + z * h;
    });
    last.push_back(h);
  }
  return {report(y), stack(last)};
}

}  // namespace gradus::nn
