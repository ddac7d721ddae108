#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// A row of the weight for every id: ids [...] (i64, 0 .. count-1) -> [..., dim]. Starts as N(0, 1).
struct Embedding : Module {
  Embedding(std::int64_t count, std::int64_t dim);
  /// On another module's parameter [count, dim], which both then train: `nn::Embedding(head.weight)`.
  explicit Embedding(const Parameter& weight);
  Tensor operator()(const Tensor& ids) const;

  Parameter weight;  // [count, dim]
};

}  // namespace gradus::nn
