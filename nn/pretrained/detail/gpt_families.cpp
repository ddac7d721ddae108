#include "gradus/nn/pretrained/detail/gpt_families.h"

#include <string_view>

#include "gradus/nn/detail/group_norm_maker.h"

namespace gradus::nn::pretrained {

namespace {

const GptFamily& family_named(const Config& config, std::string_view type) {
  std::string known;
  for (const GptFamily* const family : gpt_families()) {
    if (type == family->model_type) return *family;
    known += (known.empty() ? "" : ", ") + std::string(family->model_type);
  }
  config.fail("model_type",
              fmt::format("'{}' is not a known GPT-like model: expects one of {}", type, known));
}

/// The entries of `wanted` whose values differ.
Json differences(const Json& wanted, const Json& got) {
  Json differing = Json::object();
  for (const auto& [key, value] : wanted.items())
    if (got.at(key) != value) differing[key] = value;
  return differing;
}

Json text_of(const GptFamily& family, const GPTOptions& options) {
  Json text = {{"architectures", {family.architecture}}, {"model_type", family.model_type}};
  text.update(family.write(options));
  // Another vocabulary has other tokens at these ids, which must not begin or end texts.
  if (family.vocab != 0 && family.vocab != options.vocab)
    text["bos_token_id"] = text["eos_token_id"] = nullptr;
  return text;
}

/// A norm of the options' kind with one channel, because sizes are not yet compared with the weights.
Norm small_norm(const BlockOptions& block) {
  const NormOptions options{.d_model = 1, .eps = block.eps, .bias = block.bias};
  return block.norm.target<GroupNormMaker>() ? GroupNormMaker{.groups = 1}(options) : block.norm(options);
}

bool has_usual_norms(const GPTOptions& o) {
  return (o.placement == pre_ln() || o.placement == post_ln()) &&
         small_norm(o.block).kind().ends_with("Norm");
}

/// Sets a smaller context, if given and positions are not learned.
void shorten(const Config& config, std::int64_t context, GPTOptions& o) {
  check(context >= 0, "{}: expects a context of 1 or more, or 0 for all, got {}", config.caller(), context);
  if (context > 0 && context != o.context) {
    check(o.positions != Positions::learned,
          "{} has {} learned positions, so the context cannot be {}: leave the context out", config.label(),
          o.context, context);
    check(context <= o.context, "{}: expects a context of at most {}, got {}", config.caller(), o.context,
          context);
    o.context = context;
  }
  if (o.positions == Positions::sinusoidal) expect_few_waves(config, o.context);
}

}  // namespace

std::span<const GptFamily* const> gpt_families() {
  static constexpr const GptFamily* families[] = {&kGpt2, &kOpenAiGpt, &kGptNeo, &kLlama, &kMistral, &kQwen2};
  return families;
}

std::pair<const GptFamily*, GPTOptions> gpt_options(const Config& config, const PretrainedOptions& given) {
  const std::string type = config.text("model_type");
  const bool own = type.starts_with(kOwnType);
  const GptFamily& family = family_named(config, own ? type.substr(kOwnType.size()) : type);
  expect_heads_divide(config);
  GPTOptions options = family.read(config, given);
  if (own) read_gradus_entries(config, options);
  if (const auto placement = read_placement(config, given)) options.placement = *placement;
  if (given.dropout) options.block.dropout = *given.dropout;  // overrides gradus' own entry too
  shorten(config, given.context, options);
  return {&family, options};
}

/// The number of gradus' own entries needed; least for none. Those of the placement are not counted, because
/// every family may have them.
static int cost(const Json& differing) {
  if (differing.empty()) return -1;
  return static_cast<int>(differing.size()) - differing.contains("placement") -
         differing.contains("final_norm");
}

GptConfig gpt_config(const char* caller, const std::string& folder, const GPTOptions& options) {
  const Json wanted = gradus_entries(caller, options);
  GptConfig best{nullptr, {}};
  Json rest;
  for (const GptFamily* const family : gpt_families()) {
    Json text = text_of(*family, options);
    Json differing =
        differences(wanted, gradus_entries(caller, family->read(Config(caller, folder, text), {})));
    if (best.family && cost(differing) >= cost(rest)) continue;
    best = {family, std::move(text)};
    rest = std::move(differing);
  }
  if (rest.empty()) {
    gpt_options(Config(caller, folder, best.text), {});  // throws if reading would throw
    return best;
  }
  rest["final_norm"] = wanted["final_norm"];  // explicit, even if it is the placement's default
  best.text.erase("architectures");
  best.text["model_type"] = std::string(kOwnType) + best.family->model_type;
  best.text.update(rest);
  // Refuses to write a config that would be read differently.
  const Config written(caller, folder, best.text);
  const GPTOptions again = gpt_options(written, {.placements = {options.placement}}).second;
  const Json lost = differences(wanted, gradus_entries(caller, again));
  if (!lost.empty()) written.fail(lost.begin().key(), "this option cannot be saved");
  return best;
}

Sizes sizes_of(const BlockOptions& b) {
  return {.d = b.d_model,
          .ff = b.d_ff ? b.d_ff : 4 * b.d_model,
          .heads = b.heads,
          .kv_heads = b.kv_heads ? b.kv_heads : b.heads,
          .head_dim = b.head_dim ? b.head_dim : b.d_model / b.heads};
}

void name_norms(NameMap& names, const GPTOptions& o, const std::string& block, const std::string& norm1,
                const std::string& norm2) {
  for (const auto& [name, file] : {std::pair{block + "norm1", norm1}, {block + "norm2", norm2}})
    if (has_usual_norms(o))
      names.norm(name, file, o.block.d_model, small_norm(o.block).parameters().size() == 2);
    else
      names.norm_if_there(name, file, o.block.d_model);
}

void name_final_norm(NameMap& names, const GPTOptions& o, const std::string& norm) {
  if (!has_usual_norms(o)) return names.norm_if_there("norm", norm, o.block.d_model);
  if (o.final_norm.value_or(o.placement.final_norm))
    names.norm("norm", norm, o.block.d_model, small_norm(o.block).parameters().size() == 2);
}

void name_head(NameMap& names, const GPTOptions& o, const std::string& tokens) {
  if (o.tied)
    names.same("lm_head.weight", tokens, kTiedFlag);
  else
    names.plain("head.weight", {"lm_head.weight", {o.vocab, o.block.d_model}});
}

}  // namespace gradus::nn::pretrained
