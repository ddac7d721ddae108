// Measurements of a trained model when a layer is dropped or two are swapped.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradus/gradus.h"
#include "lab/studies/pruning/parts.h"

namespace gradus::lab::pruning {

double loss_with(const nn::GPT& gpt, const Task& task, const std::vector<std::size_t>& order) {
  const NoGrad guard;
  const Batch& texts = task.validation();
  Tensor x = gpt.token_embedding(texts.inputs) + (*gpt.position_embedding)(texts.inputs.size(1));
  for (const std::size_t layer : order) x = gpt.transformer.layers[layer](x);
  if (gpt.transformer.norm) x = (*gpt.transformer.norm)(x);
  return linear_cross_entropy(x, gpt.token_embedding.weight, texts.targets).item();
}

std::vector<double> cosines_of(const nn::GPT& gpt, const Tensor& ids) {
  const NoGrad guard;
  std::vector<double> cosines;
  Tensor x = gpt.token_embedding(ids) + (*gpt.position_embedding)(ids.size(1));
  for (const nn::AnyBlock& layer : gpt.transformer.layers) {
    const Tensor next = layer(x);
    cosines.push_back(cosine_similarity(x, next, -1).mean().item());
    x = next;
  }
  return cosines;
}

double deeper_share(const std::vector<double>& rises) {
  double all = 0, deeper = 0;
  for (std::size_t i = 0; i < rises.size(); ++i) {
    const double rise = std::max(rises[i], 0.0);
    all += rise;
    // The middle entry of an odd number belongs to both halves equally.
    if (2 * i >= rises.size())
      deeper += rise;
    else if (2 * i + 1 == rises.size())
      deeper += rise / 2;
  }
  return all > 0 ? deeper / all : std::numeric_limits<double>::quiet_NaN();
}

double deeper_mean(const std::vector<double>& values) {
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  return std::accumulate(values.begin() + half, values.end(), 0.0) /
         static_cast<double>(values.size() - values.size() / 2);
}

namespace {

std::vector<std::size_t> all_layers(const nn::GPT& gpt) {
  std::vector<std::size_t> all(static_cast<std::size_t>(gpt.options().layers));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::vector<double> rises_by_dropping(const nn::GPT& gpt, const Task& task) {
  const std::vector<std::size_t> all = all_layers(gpt);
  const double whole = loss_with(gpt, task, all);
  std::vector<double> rises;
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    std::vector<std::size_t> order = all;
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(layer));
    rises.push_back(loss_with(gpt, task, order) - whole);
  }
  return rises;
}

Measured measure(const std::string& placement, double rate, std::uint64_t seed, const Grid& grid) {
  const Task& task = recall_task();
  const TrialOptions options{.placement = nn::placement_named(placement),
                             .layers = grid.layers,
                             .lr = rate,
                             .warmup = grid.warmup,
                             .steps = grid.steps,
                             .seed = seed};
  nn::GPT gpt = new_model(task, options);
  Measured measured;
  measured.series["cosine-start"] = cosines_of(gpt, task.validation().inputs);
  const TrialResult result = train(task, gpt, options);
  measured.numbers["loss"] = result.final_loss;
  measured.numbers["diverged"] = result.diverged;
  measured.numbers["learned"] = !result.diverged && result.final_loss < task.ngram().loss;

  measured.series["drop"] = rises_by_dropping(gpt, task);
  const std::vector<std::size_t> all = all_layers(gpt);
  const double whole = loss_with(gpt, task, all);
  for (std::size_t layer = 0; layer + 1 < all.size(); ++layer) {
    std::vector<std::size_t> order = all;
    std::swap(order[layer], order[layer + 1]);
    measured.series["swap"].push_back(loss_with(gpt, task, order) - whole);
  }
  measured.series["cosine"] = cosines_of(gpt, task.validation().inputs);
  measured.numbers["drop-share"] = deeper_share(measured.series["drop"]);
  measured.numbers["swap-share"] = deeper_share(measured.series["swap"]);
  measured.numbers["cosine-deep"] = deeper_mean(measured.series["cosine"]);
  return measured;
}

}  // namespace gradus::lab::pruning
