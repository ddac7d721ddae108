#pragma once
#include "gradus/nn/recurrent/recurrent.h"

namespace gradus::nn {

/// h and c [layers, B, H]
struct LSTMState {
  Tensor h = {}, c = {};
};

/// y [B, T, H], the last layer's h after every position, and every layer's state after the last position.
struct LSTMOutput {
  Tensor y;
  LSTMState state;
};

/// Long short-term memory (Hochreiter & Schmidhuber 1997; with forget gates, Gers et al. 2000), in PyTorch's
/// form, with its keys and its order of gates:
///   i = sigmoid(W_ii x + b_ii + W_hi h + b_hi)       and likewise f, o
///   g = tanh(W_ig x + b_ig + W_hg h + b_hg)
///   c' = f c + i g
///   h' = o tanh(c')
/// x [B, T, input_size]; without a state, both begin at 0. `auto [y, state] = lstm(x);`
struct LSTM : Module {
  explicit LSTM(const RecurrentOptions& options);  // by name: {.input_size = 8, .hidden_size = 16}
  LSTM(Integer auto, auto...) = delete;            // by name: nn::LSTM({.input_size = 8, .hidden_size = 16})
  LSTMOutput operator()(const Tensor& x, const LSTMState& state = {}) const;

 private:
  RecurrentOptions options_;
  std::vector<RecurrentLayer> layers_;
};

}  // namespace gradus::nn
