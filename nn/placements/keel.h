#pragma once
// Keel (Chen & Wei 2026, arXiv 2601.19895): Post-LN with a shortcut as large as the stack is deep, and a norm
// for the branch.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// LN(a x + f(LN(x))), a the number of branches in the stack, 2L.
struct Keel : Module {
  explicit Keel(const BlockOptions& options)
      : in(add("in", options.new_norm())),
        out(add("out", options.new_norm())),
        alpha_(2 * static_cast<double>(options.layers)) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return out(alpha_ * x + f(in(x))); }
  Norm in, out;  // before the branch, and of the sum

 private:
  double alpha_;
};

/// For encoders and GPTs; the paper has no decoders with memory.
Placement keel();

}  // namespace gradus::nn
