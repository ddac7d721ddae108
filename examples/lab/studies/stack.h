#pragma once
// A stack before its first step, the setting of Xiong et al. 2020, section 3: 64 channels, 8 random
// positions, and a cross-entropy with 16 classes at the first of them. With the weights "xiong" it has one
// head and square matrices; with others, blocks are built as usual, with 4 heads and an FFN four times as
// wide.

#include "gradus/nn/nn.h"

namespace gradus::lab {

struct Stack {
  nn::TransformerEncoder encoder;
  Tensor head, input, target;
  /// Of the stack's output [1, 8, 64].
  Tensor loss(const Tensor& output) const;
};

inline constexpr std::int64_t kStackWidth = 64, kStackPositions = 8, kStackClasses = 16;

/// Draws weights (training/weights.h), then head, input and target from `generator`; values that a placement
/// sets itself come from `seed`.
Stack make_stack(const nn::Placement& placement, const std::string& scheme, std::int64_t layers,
                 std::uint64_t seed, Generator& generator);

/// The input of the last norm of a Post-LN block, the sum whose size Lemma 2 gives; for other blocks, their
/// output.
Tensor sum_of(const nn::AnyBlock& block, const Tensor& input, const Tensor& output);

/// The share of a gradient that norms alone would leave at the first of `layers` blocks (Xiong et al.,
/// appendix F): (2/3)^((L-1)/2).
double norms_alone(std::int64_t layers);

}  // namespace gradus::lab
