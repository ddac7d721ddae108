#include "lab/studies/precision/rounding.h"

#include <cmath>

#include "gradus/gradus.h"

namespace gradus::lab::precision {

namespace {

thread_local Vanishing* counting = nullptr;

struct RoundedPreLN : nn::Module {
  explicit RoundedPreLN(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const {
    const Tensor y = f(norm(x)), sum = rounded(x + y);
    if (counting) counting->add(x, y, sum);
    return sum;
  }
  nn::Norm norm;
};

struct RoundedPostLN : nn::Module {
  explicit RoundedPostLN(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return rounded(norm(rounded(x + f(x)))); }
  nn::Norm norm;
};

/// softmax over the last axis of masked scores, in bf16.
Tensor rounded_softmax(const Tensor& scores) {
  const Tensor s = rounded(scores);
  const Tensor e = rounded(exp(rounded(s - max(s.detach(), {-1}, true))));
  return rounded(e / rounded(e.sum(-1, true)));
}

struct SoftmaxBlock : nn::BlockParts {
  SoftmaxBlock(const nn::BlockOptions& options, bool post)
      : BlockParts("SoftmaxBlock", options), heads_(options.heads), post_(post) {}

  Tensor operator()(const Tensor& x) const {
    if (post_) {
      const Tensor h = norm1(x + attend(x));
      return report(norm2(h + ffn(h)));
    }
    const Tensor h = x + attend(norm1(x));
    return report(h + ffn(norm2(h)));
  }

 private:
  Tensor attend(const Tensor& x) const {
    const std::int64_t length = x.size(1), width = x.size(2) / heads_;
    std::vector<Tensor> qkv = chunk(linear(x, self_attn.in_proj_weight, self_attn.in_proj_bias), 3, -1);
    for (Tensor& part : qkv) part = part.reshape({x.size(0), length, heads_, width}).transpose(1, 2);
    const Tensor scores =
        matmul(qkv[0], qkv[1].transpose(-2, -1)) * (1 / std::sqrt(static_cast<double>(width)));
    const Tensor future = triu(ones({length, length}), 1) > 0.5;
    const Tensor y = matmul(rounded_softmax(masked_fill(scores, future, -1e9)), qkv[2]);
    return self_attn.out_proj(y.transpose(1, 2).reshape(x.shape()));
  }
  std::int64_t heads_;
  bool post_;
};

nn::Placement softmax_blocks(const char* name, bool post) {
  nn::Placement placement{.name = name, .final_norm = !post};
  placement.block = [post](const nn::BlockOptions& options) { return SoftmaxBlock(options, post); };
  return placement;
}

}  // namespace

Tensor rounded(const Tensor& x) {
  return record("rounded", x.array().to(bf16).to(f32), {&x}, []<class V>(const V& dy, auto) -> GradsOf<V> {
    if constexpr (kTaped<V>)
      return {rounded(dy)};
    else
      return {dy.to(bf16).to(f32)};
  });
}

RoundedLayerNorm::RoundedLayerNorm(const nn::NormOptions& options)
    : Module("RoundedLayerNorm"),
      weight(parameter("weight", ones({options.d_model}))),
      bias(parameter("bias", zeros({options.d_model}))),
      eps_(options.eps) {}

Tensor RoundedLayerNorm::operator()(const Tensor& x) const {
  const Tensor stored = rounded(x), centred = rounded(stored - rounded(stored.mean(-1, true)));
  const Tensor variance = rounded(rounded(centred * centred).mean(-1, true));
  const Tensor unit = rounded(centred * rounded(rsqrt(variance + eps_)));
  return report(rounded(rounded(unit * rounded(weight)) + rounded(bias)));
}

void Vanishing::add(const Tensor& x, const Tensor& y, const Tensor& sum) {
  if (++calls % connections != 0) return;
  lost += static_cast<std::int64_t>(((sum == x) & (y != 0)).to(i64).sum().item());
  numbers += x.numel();
}

CountVanishing::CountVanishing(Vanishing& into) { counting = &into; }
CountVanishing::~CountVanishing() { counting = nullptr; }

nn::Placement rounded_pre_ln() {
  nn::Placement placement = nn::placement<RoundedPreLN>({.name = "Pre-LN", .final_norm = true});
  placement.enter = [](const Tensor& x) { return rounded(x); };
  return placement;
}

nn::Placement rounded_post_ln() {
  nn::Placement placement = nn::placement<RoundedPostLN>({.name = "Post-LN"});
  placement.enter = [](const Tensor& x) { return rounded(x); };
  return placement;
}

nn::Placement softmax_pre_ln() { return softmax_blocks("Pre-LN", false); }
nn::Placement softmax_post_ln() { return softmax_blocks("Post-LN", true); }

}  // namespace gradus::lab::precision
