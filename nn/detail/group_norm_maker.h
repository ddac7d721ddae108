#pragma once
// What make_group_norm returns: a type of its own, by which a model's config.json finds the number of groups.

#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct GroupNormMaker {
  std::int64_t groups = 1;
  Norm operator()(const NormOptions& options) const;
};

}  // namespace gradus::nn
