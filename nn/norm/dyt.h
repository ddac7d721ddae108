#pragma once
// DyT: replaces a norm without computing statistics (Zhu et al. 2025, arXiv 2503.10622).

#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct DyTOptions {
  double alpha = 0.5;  // the initial value
  bool bias = true;    // false: weight only
};

/// weight tanh(alpha x) + bias, x [..., C]; alpha is one trained scalar. Keys are the paper's.
/// `nn::DyT norm(64);`  In blocks: `.norm = nn::make_norm<nn::DyT>`.
struct DyT : Module {
  explicit DyT(std::int64_t dim, const DyTOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter alpha;         // [1]
  Parameter weight, bias;  // [C]
};

}  // namespace gradus::nn
