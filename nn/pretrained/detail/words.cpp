#include "gradus/nn/pretrained/detail/words.h"

#include <algorithm>

#include "gradus/nn/placements/placements.h"

namespace gradus::nn::pretrained {

namespace {

struct Word {
  const char* name;
  Activation activation;
};
// Of several names for one, the first is written.
constexpr Word kActivations[] = {
    {"gelu_new", Activation::gelu_tanh}, {"gelu", Activation::gelu},
    {"relu", Activation::relu},          {"silu", Activation::silu},
    {"swish", Activation::silu},         {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh}};

}  // namespace

const char* word_of(Activation activation) {
  return std::find_if(std::begin(kActivations), std::end(kActivations),
                      [=](const Word& word) { return word.activation == activation; })
      ->name;
}

Activation read_activation(const Config& config, const char* key, Activation otherwise) {
  if (!config.has(key)) return otherwise;
  const std::string text = config.text(key);
  std::string known;
  for (const Word& word : kActivations) {
    if (text == word.name) return word.activation;
    known += (known.empty() ? "" : ", ") + std::string(word.name);
  }
  config.fail(key, fmt::format("'{}' is not known here: expects one of {}", text, known));
}

double read_dropout(const Config& config, const PretrainedOptions& given,
                    std::initializer_list<const char*> keys, double otherwise) {
  if (given.dropout) return *given.dropout;
  const char* const first = *keys.begin();
  const double p = config.probability(first, otherwise);
  for (const char* const key : keys)
    if (config.probability(key, otherwise) != p)
      config.fail(key, fmt::format("differs from {}, but there is one dropout here: make them equal, or give "
                                   "{{.dropout = 0.1}}",
                                   first));
  return p;
}

std::optional<Placement> read_placement(const Config& config, const PretrainedOptions& given) {
  if (!config.has("placement")) return std::nullopt;
  const std::string name = config.text("placement");
  std::string known;
  for (const Placement& placement : given.placements)
    if (placement.name == name) return placement;
  for (const Placement& placement : placements()) {
    if (placement.name == name) return placement;
    known += (known.empty() ? "" : ", ") + placement.name;
  }
  config.fail("placement",
              fmt::format("'{}' is not one of {}: give your own in {{.placements = {{...}}}}", name, known));
}

}  // namespace gradus::nn::pretrained
