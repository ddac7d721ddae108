#pragma once
// The common parts of GRU and LSTM.

#include <functional>
#include <vector>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// The options of GRU and LSTM.
struct RecurrentOptions {
  std::int64_t input_size = 0;   // channels of x
  std::int64_t hidden_size = 0;  // H
  std::int64_t layers = 1;       // each reads the output of the one before
  bool bias = true;              // b_ih and b_hh
  double dropout = 0;            // between layers, in training
};

/// The weights of one layer, with the rows of all gates stacked, under PyTorch's names: weight_ih_l0, ...
struct RecurrentLayer {
  Parameter weight_ih, weight_hh, bias_ih,
      bias_hh;  // [gates H, C], [gates H, H], [gates H] twice or undefined
};

/// Registers the weights of every layer; each starts as U(-1/sqrt(H), 1/sqrt(H)).
std::vector<RecurrentLayer> recurrent_layers(const Module& module, const RecurrentOptions& options,
                                             std::int64_t gates);

/// The initial state [layers, B, H] of a call: the given one, or zeros.
Tensor first_state(const Module& module, const RecurrentOptions& options, const char* name,
                   const Tensor& given, const Tensor& x);

/// Runs one layer over all positions: stacks the states of step(W_i x_t + b_i) [B, H] into y [B, T, H].
Tensor run_positions(const RecurrentLayer& layer, const Tensor& x,
                     const std::function<Tensor(const Tensor& input)>& step);

}  // namespace gradus::nn
