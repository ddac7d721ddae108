#pragma once
// Numbers in bf16 by rounding: parts of a Transformer whose results are rounded to bf16 one by one, forward
// and backward, while their sums are f32. The library has products in bf16 (Autocast) and no more.

#include <cstdint>

#include "gradus/nn/nn.h"

namespace gradus::lab::precision {

/// x rounded to bf16, and its gradient, too.
Tensor rounded(const Tensor& x);

/// LayerNorm with every number in bf16: mean, differences, variance, and what follows from them. Only the two
/// sums over channels are f32.
struct RoundedLayerNorm : nn::Module {
  explicit RoundedLayerNorm(const nn::NormOptions& options);
  Tensor operator()(const Tensor& x) const;
  nn::Parameter weight, bias;  // [C]

 private:
  double eps_;
};

/// How many of the numbers that branches add to the stream change nothing, as the stream rounds them away.
struct Vanishing {
  std::int64_t lost = 0, numbers = 0;
  /// Counts in the last of `connections` alone, the connections being called in order.
  std::int64_t connections = 1, calls = 0;
  void add(const Tensor& x, const Tensor& y, const Tensor& sum);
};
/// While one exists, the connections of a stack made by rounded_pre_ln() count on this thread.
class CountVanishing {
 public:
  explicit CountVanishing(Vanishing& into);
  ~CountVanishing();
  CountVanishing(const CountVanishing&) = delete;
  CountVanishing& operator=(const CountVanishing&) = delete;
};

/// Pre-LN and Post-LN whose stream is stored in bf16: x + f(LN(x)) or LN(x + f(x)), rounded.
nn::Placement rounded_pre_ln();
nn::Placement rounded_post_ln();

/// Pre-LN and Post-LN whose attention has scores, exponentials, sums and weights in bf16.
nn::Placement softmax_pre_ln();
nn::Placement softmax_post_ln();

}  // namespace gradus::lab::precision
