#pragma once
// Two streams that share the branches f, both the embedding at the start:
//
//   ResiDual     x <- LN(x + f(x)), r <- r + f(x), at the end x + LN(r)     Xie et al. 2023, arXiv 2304.14802
//   SiameseNorm  x <- LN(x), z = f(LN(x + LN(y))), x <- x + z / √(2l), y <- y + z, l the block's number, from
//                1, at the end LN(LN(x) + LN(y))                            Li et al. 2026, arXiv 2602.08064

#include <cmath>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x <- LN(x + f(x)), r <- r + f(x): streams [2, B, T, C], x and r.
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

/// x <- LN(x), z = f(LN(x + LN(y))), x <- x + z / sqrt(2l), y <- y + z, l the number of the block, from 1:
/// streams [2, B, T, C], x and y, as in the authors' DeiT code.
struct SiameseNorm : Module {
  explicit SiameseNorm(const BlockOptions& options)
      : post(add("post", options.new_norm())),
        pre(add("pre", options.new_norm())),
        in(add("in", options.new_norm())),
        scale_(1 / std::sqrt(2 * static_cast<double>(options.layer + 1))) {}
  Tensor operator()(const Tensor& streams, const Branch& f) const {
    const Tensor x = post(streams[0]), y = streams[1], z = f(in(x + pre(y)));
    return stack({x + scale_ * z, y + z});
  }
  Norm post, pre, in;  // of the first stream, of the second, of their sum

 private:
  double scale_;
};

/// LN(LN(x) + LN(y)), after the last block.
struct SiameseNormEnd : Module {
  explicit SiameseNormEnd(const BlockOptions& options)
      : post(add("post", options.new_norm())),
        pre(add("pre", options.new_norm())),
        out(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& streams) const { return out(post(streams[0]) + pre(streams[1])); }
  Norm post, pre, out;  // of the first stream, of the second, of their sum
};

/// Blocks of ResiDual, and ResiDualEnd after the last: `.placement = nn::resi_dual()`.
Placement resi_dual();
/// Blocks of SiameseNorm, and SiameseNormEnd after the last, for encoders and GPTs; the paper has no decoders
/// with memory.
Placement siamese_norm();

}  // namespace gradus::nn
