#pragma once
#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct GroupNormOptions {
  double eps = 1e-5;   // inside the square root
  bool affine = true;  // with weight and bias
};

/// Layer norm over groups of channels and all positions: x [B, C, ...], statistics over each of `groups`
/// groups of C / groups channels (Wu & He 2018). Keys and values are PyTorch's. `nn::GroupNorm norm(4, 64);`
struct GroupNorm : Module {
  GroupNorm(std::int64_t groups, std::int64_t channels, const GroupNormOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;  // [C]; undefined without affine

 private:
  std::int64_t groups_, channels_;
  double eps_;
};

/// Group norm for blocks, for each token separately: statistics over each of `groups` groups of its channels.
/// `.norm = nn::make_group_norm(4)`
MakeNorm make_group_norm(std::int64_t groups);

}  // namespace gradus::nn
