#pragma once
// ReZero (Bachlechner et al. 2020, arXiv 2003.04887): no norm; every branch starts as nothing.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + a f(x), a a trained number, 0 at the start. (In the authors' code the branches of a block share one.)
struct ReZero : Module {
  explicit ReZero(const BlockOptions&) : alpha(parameter("alpha", zeros({}))) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + alpha * f(x); }
  Parameter alpha;  // a
};

/// Blocks of ReZero, without norms: `.placement = nn::rezero()`.
Placement rezero();

}  // namespace gradus::nn
