#pragma once
// Modules without parameters that change only the shape, or nothing.

#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

/// Returns x; for places that need a module.
struct Identity : Module {
  Identity() : Module("Identity") {}
  Tensor operator()(const Tensor& x) const { return report(x); }
};

/// Joins axes `start` to `end`, both included, into one; [B, C, H, W] -> [B, C H W] by default.
struct Flatten : Module {
  explicit Flatten(std::int64_t start = 1, std::int64_t end = -1)
      : Module("Flatten"), start_(start), end_(end) {}
  Tensor operator()(const Tensor& x) const { return report(flatten(x, start_, end_)); }

 private:
  std::int64_t start_, end_;
};

}  // namespace gradus::nn
