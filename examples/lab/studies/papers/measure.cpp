// The training of an arm, and the measurements of its trained models.

#include <cmath>
#include <limits>
#include <numeric>

#include "gradus/gradus.h"
#include "lab/studies/best/best.h"
#include "lab/studies/papers/papers.h"
#include "lab/studies/papers/without_norm.h"
#include "lab/studies/pruning/parts.h"
#include "lab/studies/slope.h"
#include "lab/study/outcome.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab::papers {

namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::int64_t kWindows = 8;  // of the sizes

Tensor looked_at() { return best::task().validation().inputs.slice(0, 0, kWindows); }

}  // namespace

nn::Placement fixup() {
  return nn::placement<FixupBranch>({.name = "Fixup",
                                     .equation = "x + a f(x + b) + c, a = 1, b = c = 0 at the start",
                                     .paper = "Zhang et al. 2019, arXiv 1901.09321"});
}

void set_fixup_weights(const nn::Module& model, std::int64_t layers, Generator& generator) {
  set_weights(model, "xavier", layers, generator);
  const NoGrad guard;
  const double first = 1 / std::sqrt(2 * static_cast<double>(layers));
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight")) nn::init::zeros_(w);
    if (name.ends_with("linear1.weight")) w *= first;
    if (name.ends_with("in_proj_weight")) w.slice(0, 2 * w.size(1)) *= first;  // the values
  }
}

std::vector<double> sizes_by_block(const nn::GPT& model, const Tensor& ids) {
  const NoGrad guard;
  std::vector<double> sizes;
  Tensor x = model.token_embedding(ids) + (*model.position_embedding)(ids.size(1));
  for (const nn::AnyBlock& layer : model.transformer.layers) {
    x = layer(x);
    sizes.push_back(x.square().mean().item());
  }
  return sizes;
}

void look_into(Measured& measured, const nn::GPT& model, bool diverged) {
  for (const char* name : {"growth", "bend", "slope", "drop-share"})
    measured.numbers[name] = std::numeric_limits<double>::quiet_NaN();
  measured.series["sizes"] = measured.series["drop"] = {};
  if (diverged) return;
  const std::vector<double> sizes = sizes_by_block(model, looked_at());
  std::vector<double> blocks(sizes.size());
  std::iota(blocks.begin(), blocks.end(), 1.0);
  const double half = sizes[(sizes.size() - 1) / 2];
  measured.numbers["growth"] = std::log(sizes.back() / sizes.front());
  measured.numbers["bend"] = std::log(sizes.back() / half) / std::log(half / sizes.front());
  measured.numbers["slope"] = log_slope(blocks, sizes);
  measured.series["sizes"] = sizes;

  const Task& task = best::task();
  std::vector<std::size_t> all(sizes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const double whole = pruning::loss_with(model, task, all);
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    std::vector<std::size_t> order = all;
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(layer));
    measured.series["drop"].push_back(pruning::loss_with(model, task, order) - whole);
  }
  measured.numbers["drop-share"] = pruning::deeper_share(measured.series["drop"]);
}

Measured measure(const Arm& arm, const Design& design, std::int64_t steps, std::uint64_t seed, bool judges) {
  const TrialOptions options{.placement = arm.placement,
                             .layers = arm.layers,
                             .block = {.d_model = 32, .heads = 4, .norm = arm.norm},
                             .lr = design.lr,
                             .warmup = design.warmup,
                             // Stacks without norms begin at losses that are far above guessing.
                             .loss_limit = std::numeric_limits<double>::infinity(),
                             .steps = steps,
                             .batch = kBatch,
                             .seed = seed};
  nn::GPT model = new_model(best::task(), options, [&](const nn::GPT& gpt, std::uint64_t weights) {
    Generator generator(weights, 0);
    if (arm.weights == "fixup")
      set_fixup_weights(gpt, arm.layers, generator);
    else
      set_weights(gpt, arm.weights, arm.layers, generator);
  });
  const bool looks = arm.looked_into && judges;
  const std::vector<double> sizes = looks ? sizes_by_block(model, looked_at()) : std::vector<double>{};
  const TrialResult result = train(best::task(), model, options);
  // A stack that overflows before its first step has no loss: it has failed.
  const double loss = std::isfinite(result.final_loss) ? result.final_loss : best::task().context_free_loss();
  Measured measured{
      .numbers = {{"loss", loss}, {"start", result.start_loss}, {"diverged", result.diverged ? 1.0 : 0.0}},
      .series = {{"losses", slice_means(result.losses, 30)}}};
  if (!looks) return measured;
  measured.series["sizes-start"] = sizes;
  look_into(measured, model, result.diverged);
  return measured;
}

}  // namespace gradus::lab::papers
