// gradus' own config.json entries for GPT's options.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gradus/nn/detail/group_norm_maker.h"
#include "gradus/nn/layers/shape.h"
#include "gradus/nn/norm/batch_norm.h"
#include "gradus/nn/norm/dyt.h"
#include "gradus/nn/norm/group_norm.h"
#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn::pretrained {

namespace {

struct NamedMaker {
  const char* name;
  Norm (*make)(const NormOptions&);
};
constexpr NamedMaker kNorms[] = {{"LayerNorm", make_norm<LayerNorm>},
                                 {"RMSNorm", make_norm<RMSNorm>},
                                 {"BatchNorm", make_norm<BatchNorm>},
                                 {"DyT", make_norm<DyT>},
                                 {"Identity", make_norm<Identity>}};
constexpr std::string_view kGroupNorm = "GroupNorm ";  // with the number of groups after it

std::string name_of(const std::string& caller, const MakeNorm& norm) {
  using Function = Norm (*)(const NormOptions&);
  if (const Function* const make = norm.target<Function>())
    for (const NamedMaker& known : kNorms)
      if (*make == known.make) return known.name;
  if (const GroupNormMaker* const group = norm.target<GroupNormMaker>())
    return std::string(kGroupNorm) + std::to_string(group->groups);
  fail_with(
      "{}: the norm of this model has no name in config.json, only those of nn::norms() have: save "
      "state_dict() with save_safetensors instead",
      caller);
}

MakeNorm read_norm(const Config& config, std::int64_t d_model) {
  const std::string name = config.text("norm");
  for (const NamedMaker& known : kNorms)
    if (name == known.name) return known.make;
  std::int64_t groups = 0;
  if (name.starts_with(kGroupNorm)) {
    const char* const end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data() + kGroupNorm.size(), end, groups);
    if (error != std::errc() || at != end) groups = 0;
  }
  if (groups < 1)
    config.fail("norm",
                fmt::format("'{}' is not known here: expects one of LayerNorm, RMSNorm, BatchNorm, GroupNorm "
                            "with a number such as 'GroupNorm 4', DyT, Identity",
                            name));
  if (d_model % groups != 0)
    config.fail("norm", fmt::format("{} groups do not divide d_model {}", groups, d_model));
  return make_group_norm(groups);
}

constexpr std::initializer_list<std::pair<const char*, Positions>> kPositions = {
    {"learned", Positions::learned}, {"sinusoidal", Positions::sinusoidal}, {"rotary", Positions::rotary},
    {"alibi", Positions::alibi},     {"relative", Positions::relative},     {"none", Positions::none}};

const char* name_of(Positions positions) {
  return std::find_if(kPositions.begin(), kPositions.end(),
                      [=](const auto& known) { return known.second == positions; })
      ->first;
}

double scale_of(const BlockOptions& b) {
  return b.attention_scale.value_or(1 / std::sqrt(static_cast<double>(sizes_of(b).head_dim)));
}

}  // namespace

Json gradus_entries(const std::string& caller, const GPTOptions& o) {
  expect_own_name(caller, o.placement);
  const BlockOptions& b = o.block;
  const Sizes s = sizes_of(b);
  const RopeOptions rope = b.rope.value_or(RopeOptions{});
  return {{"placement", o.placement.name},
          {"vocab", o.vocab},
          {"context", o.context},
          {"layers", o.layers},
          {"positions", name_of(o.positions)},
          {"final_norm", o.final_norm.value_or(o.placement.final_norm || o.placement.leave)},
          {"tied", o.tied},
          {"d_model", s.d},
          {"heads", s.heads},
          {"d_ff", s.ff},
          {"activation", activation_name(b.activation.value_or(Activation::gelu_tanh))},
          {"gated", b.gated},
          {"dropout", b.dropout},
          {"bias", b.bias},
          {"eps", b.eps},
          {"norm", name_of(caller, b.norm)},
          {"qkv_bias", b.qkv_bias.value_or(b.bias)},
          {"head_dim", s.head_dim},
          {"kv_heads", s.kv_heads},
          {"attention_scale", number_or_null(scale_of(b))},
          {"window", b.window},
          {"window_every", b.window > 0 ? b.window_every : 1},
          {"alibi", b.alibi},
          {"rope", b.rope.has_value()},
          {"rope_base", rope.base},
          {"rope_offset", rope.offset},
          {"rope_channels", rope.channels},
          {"rope_pairs", rope.pairs == RopePairs::halves ? "halves" : "neighbours"},
          {"qk_norm", b.qk_norm},
          {"v_norm", b.v_norm}};
}

void read_gradus_entries(const Config& config, GPTOptions& o) {
  BlockOptions& b = o.block;
  // Defaults that depend on other options are fixed before those change.
  const Sizes s = sizes_of(b);
  b.qkv_bias = b.qkv_bias.value_or(b.bias);
  b.attention_scale = scale_of(b);
  o.vocab = config.size("vocab", o.vocab);
  o.context = config.size("context", o.context);
  o.layers = config.size("layers", o.layers);
  o.positions = config.choice("positions", kPositions, std::optional(o.positions));
  if (config.has("final_norm")) o.final_norm = config.flag("final_norm");
  o.tied = config.flag("tied", o.tied);
  b.d_model = config.size("d_model", s.d);
  b.heads = config.size("heads", s.heads);
  b.d_ff = config.size("d_ff", s.ff);
  b.activation = read_activation(config, "activation", b.activation.value_or(Activation::gelu_tanh));
  b.gated = config.flag("gated", b.gated);
  b.dropout = config.probability("dropout", b.dropout);
  b.bias = config.flag("bias", b.bias);
  b.eps = config.number("eps", b.eps);
  if (config.has("norm")) b.norm = read_norm(config, b.d_model);
  b.qkv_bias = config.flag("qkv_bias", b.qkv_bias);
  b.head_dim = config.size("head_dim", s.head_dim);
  b.kv_heads = config.size("kv_heads", s.kv_heads);
  b.attention_scale = config.number("attention_scale", b.attention_scale);
  b.window = config.whole("window", 0, b.window);
  b.window_every = config.size("window_every", b.window_every);
  b.alibi = config.flag("alibi", b.alibi);
  b.qk_norm = config.flag("qk_norm", b.qk_norm);
  b.v_norm = config.flag("v_norm", b.v_norm);
  if (!config.flag("rope", b.rope.has_value())) {
    b.rope.reset();
    return;
  }
  RopeOptions rope = b.rope.value_or(RopeOptions{});
  rope.base = config.number("rope_base", rope.base);
  rope.offset = config.whole("rope_offset", 0, rope.offset);
  rope.channels = config.whole("rope_channels", 0, rope.channels);
  rope.pairs =
      config.choice("rope_pairs", {{"halves", RopePairs::halves}, {"neighbours", RopePairs::neighbours}},
                    std::optional(rope.pairs));
  b.rope = rope;
}

}  // namespace gradus::nn::pretrained
