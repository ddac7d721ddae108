#pragma once
// What papers put in place of layer norm.

#include <cmath>

#include "gradus/gradus.h"

namespace gradus::lab::papers {

/// g x / |x|, g one trained number, sqrt(d) at the start (Nguyen and Salazar 2019, arXiv:1910.05895).
struct ScaleNorm : nn::Module {
  explicit ScaleNorm(const nn::NormOptions& options)
      : Module("ScaleNorm"),
        gain(parameter("gain", full({}, std::sqrt(static_cast<double>(options.d_model))))),
        eps_(options.eps) {}
  Tensor operator()(const Tensor& x) const { return report(x / sqrt((x * x).sum(-1, true) + eps_) * gain); }
  nn::Parameter gain;

 private:
  double eps_;
};

/// Layer norm without its division: what remains is the projection (Brody et al. 2023, arXiv:2305.02582).
struct CentredNorm : nn::Module {
  explicit CentredNorm(const nn::NormOptions& options)
      : Module("CentredNorm"),
        weight(parameter("weight", ones({options.d_model}))),
        bias(parameter("bias", zeros({options.d_model}))) {}
  Tensor operator()(const Tensor& x) const { return report((x - x.mean(-1, true)) * weight + bias); }
  nn::Parameter weight, bias;  // [C]
};

/// x + a f(x + b) + c, a, b and c trained numbers, 1, 0 and 0 at the start: a residual branch of Fixup (Zhang
/// et al. 2019, arXiv:1901.09321), whose other biases are those of the linear layers.
struct FixupBranch : nn::Module {
  explicit FixupBranch(const nn::BlockOptions&)
      : before(parameter("before", zeros({}))),
        scale(parameter("scale", ones({}))),
        after(parameter("after", zeros({}))) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + scale * f(x + before) + after; }
  nn::Parameter before, scale, after;  // b, a, c
};

/// Blocks of FixupBranch, without norms.
nn::Placement fixup();

/// Fixup's initial weights: Xavier, the last matrix of each branch 0, the first (that of the values, in
/// attention) times (2L)^(-1/2), for 2L branches of two matrices. The head is tied to the embedding, so it
/// does not start at 0 as in the paper.
void set_fixup_weights(const nn::Module& model, std::int64_t layers, Generator& generator);

}  // namespace gradus::lab::papers
