#pragma once
// The result of make_group_norm: a named type, from which a model's config.json gets the number of groups.

#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct GroupNormMaker {
  std::int64_t groups = 1;
  Norm operator()(const NormOptions& options) const;
};

}  // namespace gradus::nn
