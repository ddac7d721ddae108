#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// One trained vector per position: positions(T) is [T, C], to be added to x [B, T, C]; positions(T, begin)
/// are those from `begin` on. Starts as N(0, 1).
/// `Tensor h = tokens(ids) + positions(ids.size(1));`
struct LearnedPositions : Module {
  LearnedPositions(std::int64_t context, std::int64_t d_model);
  Tensor operator()(std::int64_t length, std::int64_t begin = 0) const;

  Parameter weight;  // [context, C]
};

/// Fixed waves: PE(t, 2i) = sin(t / 10000^(2i/C)), PE(t, 2i+1) = cos of the same (Vaswani et al. 2017,
/// section 3.5). Used like LearnedPositions; nothing to train or save.
struct SinusoidalPositions : Module {
  SinusoidalPositions(std::int64_t context, std::int64_t d_model);
  Tensor operator()(std::int64_t length, std::int64_t begin = 0) const;

  Buffer table;  // [context, C]
};

}  // namespace gradus::nn
