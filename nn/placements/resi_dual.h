#pragma once
// ResiDual (Xie et al. 2023, arXiv 2304.14802): a Post-LN stream, which the branches read, and beside it the
// sum of all they give.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x <- LN(x + f(x)), r <- r + f(x): streams [2, B, T, C], x and r, both the embedding at the start.
struct ResiDual : Module {
  explicit ResiDual(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& streams, const Branch& f) const {
    const Tensor x = streams[0], r = streams[1], y = f(x);
    return stack({norm(x + y), r + y});
  }
  Norm norm;  // of the sum
};

/// x + LN(r), after the last block.
struct ResiDualEnd : Module {
  explicit ResiDualEnd(const BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& streams) const { return streams[0] + norm(streams[1]); }
  Norm norm;  // of the second stream
};

/// Blocks of ResiDual, and ResiDualEnd after the last: `.placement = nn::resi_dual()`.
Placement resi_dual();

}  // namespace gradus::nn
