#include "gradus/nn/norm/group_norm.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/detail/group_norm_maker.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, const GroupNormOptions& options)
    : Module("GroupNorm"), groups_(groups), channels_(channels), eps_(options.eps) {
  expect_positive("GroupNorm", "groups", groups);
  expect_positive("GroupNorm", "channels", channels);
  check(channels % groups == 0, "GroupNorm: channels {} are not divisible by groups {}", channels, groups);
  expect_eps("GroupNorm", options.eps);
  if (!options.affine) return;
  weight = parameter("weight", ones({channels}));
  bias = parameter("bias", zeros({channels}));
}

Tensor GroupNorm::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_channels("GroupNorm", x, 1, channels_, weight.defined() ? weight.dtype() : x.dtype());
  if (x.numel() == 0) return report(x * 1.0);
  const Tensor y = layer_norm(x.reshape({x.size(0) * groups_, -1}), {}, {}, eps_).reshape(x.shape());
  if (!weight.defined()) return report(y);
  const Shape shape = channel_shape(x, 1, channels_);
  return report(y * weight.reshape(shape) + bias.reshape(shape));
}

namespace {

/// Group norm with channels on the last axis and separate statistics for each position.
struct TokenGroupNorm : GroupNorm {
  using GroupNorm::GroupNorm;
  Tensor operator()(const Tensor& x) const {
    const Scope scope(path());
    expect_last_axis("GroupNorm", "x", x, weight.size(0), weight.dtype());
    return GroupNorm::operator()(x.reshape({-1, x.size(-1)})).reshape(x.shape());
  }
};

}  // namespace

Norm GroupNormMaker::operator()(const NormOptions& o) const {
  return TokenGroupNorm(groups, o.d_model, {.eps = o.eps});
}

MakeNorm make_group_norm(std::int64_t groups) {
  expect_positive("GroupNorm", "groups", groups);
  return GroupNormMaker{groups};
}

}  // namespace gradus::nn
