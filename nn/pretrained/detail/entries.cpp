#include "gradus/nn/pretrained/detail/entries.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/io/printable.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::nn::pretrained {

namespace {

struct ActivationName {
  const char* name;
  Activation activation;
};
// Of several names of one activation, the first is written.
constexpr ActivationName kActivations[] = {
    {"gelu_new", Activation::gelu_tanh}, {"gelu", Activation::gelu},
    {"relu", Activation::relu},          {"silu", Activation::silu},
    {"swish", Activation::silu},         {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh}};

}  // namespace

const char* activation_name(Activation activation) {
  return std::find_if(std::begin(kActivations), std::end(kActivations),
                      [=](const ActivationName& known) { return known.activation == activation; })
      ->name;
}

Activation read_activation(const Config& config, const char* key, Activation otherwise) {
  if (!config.has(key)) return otherwise;
  const std::string text = config.text(key);
  std::string known;
  for (const auto& [name, activation] : kActivations) {
    if (text == name) return activation;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  config.fail(key, fmt::format("'{}' is not known here: expects one of {}", text, known));
}

Json number_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }

double read_dropout(const Config& config, const PretrainedOptions& given,
                    std::initializer_list<const char*> keys, double otherwise) {
  if (given.dropout) return *given.dropout;
  const char* const first = *keys.begin();
  const double p = config.probability(first, otherwise);
  for (const char* const key : keys)
    if (config.probability(key, otherwise) != p)
      config.fail(key, fmt::format("differs from {}, but the model has one dropout: make them equal, or pass "
                                   "{{.dropout = 0.1}}",
                                   first));
  return p;
}

void expect_heads_divide(const Config& config) {
  if (config.has("head_dim")) return;
  for (const auto& [heads, width] : {std::pair{"n_head", "n_embd"},
                                     {"num_heads", "hidden_size"},
                                     {"num_attention_heads", "hidden_size"},
                                     {"encoder_attention_heads", "d_model"}})
    if (config.has(heads) && config.has(width) && config.size(width) % config.size(heads) != 0)
      config.fail(heads,
                  fmt::format("{} does not divide {} {}", config.size(heads), width, config.size(width)));
}

void expect_few_waves(const Config& config, std::int64_t context) {
  constexpr std::int64_t most = 1 << 17;
  check(context <= most, "{}: sinusoidal positions expect a context of at most {}, got {}", config.label(),
        most, context);
}

void expect_no_context(const Config& config, const PretrainedOptions& given) {
  check(given.context == 0,
        "{}: expects no context, got {}: the cache of a decoder is as long as the generated text",
        config.caller(), given.context);
}

void expect_own_name(const std::string& caller, const Placement& placement) {
  const std::optional<Placement> known = find_placement(placement.name);
  check(!known || *known == placement,
        "{}: the placement '{}' is not gradus' placement of this name: give it another name", caller,
        placement.name);
  const std::string printable = io::printable(placement.name);
  check(printable == placement.name,
        "{}: the name of the placement '{}' has characters that cannot be printed: give it another name",
        caller, printable);
}

std::optional<Placement> read_placement(const Config& config, const PretrainedOptions& given) {
  if (!config.has("placement")) return std::nullopt;
  for (const Placement& placement : given.placements) expect_own_name(config.caller(), placement);
  const std::string name = config.text("placement");
  if (const auto placement = find_placement(name)) return placement;
  for (const Placement& placement : given.placements)
    if (placement.name == name) return placement;
  std::string known;
  for (const Placement& placement : placements()) known += (known.empty() ? "" : ", ") + placement.name;
  config.fail("placement",
              fmt::format("'{}' is not one of {}: pass your own in {{.placements = {{...}}}}", name, known));
}

}  // namespace gradus::nn::pretrained
