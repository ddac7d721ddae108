#pragma once
#include "gradus/nn/recurrent/recurrent.h"

namespace gradus::nn {

/// The output of GRU: y [B, T, H], the last layer's state after every position, and h [layers, B, H], every
/// layer's state after the last position.
struct GRUOutput {
  Tensor y, h;
};

/// Gated recurrent units (Cho et al. 2014), in PyTorch's form, with its keys and its order of gates:
///   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
///   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
///   n = tanh(W_in x + b_in + r (W_hn h + b_hn))
///   h' = (1 - z) n + z h
/// x [B, T, input_size]; without h, states begin at 0. `auto [y, h] = nn::GRU({.input_size = 8, .hidden_size
/// = 16})(x);`
struct GRU : Module {
  explicit GRU(const RecurrentOptions& options);  // by name: {.input_size = 8, .hidden_size = 16}
  GRU(Integer auto, auto...) = delete;            // by name: nn::GRU({.input_size = 8, .hidden_size = 16})
  GRUOutput operator()(const Tensor& x, const Tensor& h = {}) const;

 private:
  RecurrentOptions options_;
  std::vector<RecurrentLayer> layers_;
};

}  // namespace gradus::nn
