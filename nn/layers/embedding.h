#pragma once
#include <optional>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  // an id whose row starts as zeros and gets no gradient
};

/// Looks up a row of the weight for every id: ids [...] (i64, 0 .. count-1) -> [..., dim]. Starts as N(0, 1).
/// `nn::Embedding words(1000, 64, {.padding_idx = 0});`
struct Embedding : Module {
  Embedding(std::int64_t count, std::int64_t dim, const EmbeddingOptions& options = {});
  /// Shares another module's parameter [count, dim], which both then train: `nn::Embedding(head.weight)`.
  explicit Embedding(const Parameter& weight);
  Tensor operator()(const Tensor& ids) const;

  Parameter weight;  // [count, dim]

 private:
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace gradus::nn
