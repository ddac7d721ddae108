// Half the bits: training in bf16 against f32, placement by placement and part by part.

#include "lab/studies/precision/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "lab/statistics/format.h"
#include "lab/studies/precision/rounding.h"
#include "lab/studies/studies.h"

namespace gradus::lab::precision {

namespace {

// Seconds of one core: a layer of a step, with the library's parts and with rounded ones; a whole model.
constexpr double kLayer = 4e-4, kRoundedLayer = 9e-4, kModel = 12;
constexpr std::int64_t kLayers = 6;

bool is_rounded(const std::string& mode) { return mode != "f32" && mode != "bf16"; }

nn::Placement placement_of(const std::string& arm, const std::string& mode) {
  const bool post = arm == "post";
  if (mode == "stream") return post ? rounded_post_ln() : rounded_pre_ln();
  if (mode == "softmax") return post ? softmax_post_ln() : softmax_pre_ln();
  if (arm == "deep") return nn::deep_norm();
  if (arm == "none") return nn::no_norm();
  return post ? nn::post_ln() : nn::pre_ln();
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Setting setting = setting_of(options);
  std::vector<StudyRun> runs;
  const auto add = [&](const std::string& arm, const std::string& mode, std::int64_t layers) {
    const Search search = setting.search(arm, mode, layers);
    for (const double rate : search.rates)
      for (const std::uint64_t seed : search.seeds)
        runs.push_back({.name = search.run(rate, seed),
                        .seconds = (is_rounded(mode) ? kRoundedLayer : kLayer) *
                                   static_cast<double>((layers + 1) * setting.steps),
                        .measure = [=, steps = setting.steps] {
                          return measure_run(arm, mode, layers, rate, steps, seed);
                        }});
  };
  for (const Arm& arm : arms())
    for (const Mode& mode : modes())
      if (!is_rounded(mode.name) || arm.name == "pre" || arm.name == "post")
        add(arm.name, mode.name, kLayers);
  for (const std::int64_t layers : setting.depths)
    if (layers != kLayers)
      for (const char* mode : {"bf16", "stream"}) add("pre", mode, layers);
  if (setting.models)
    for (const Titled& model : models())
      for (const bool half : {false, true})
        for (const std::uint64_t seed : setting.seeds)
          runs.push_back({.name = model_name(model.name, half, seed), .seconds = kModel, .measure = [=] {
                            return measure_model(model.name, half, seed);
                          }});
  return runs;
}

std::string setting() {
  const Setting full = setting_of({.budget = Budget::full});
  return fmt::format(
      "GPTs of {} layers and 16 channels on the small recall language, {} steps of 8 documents, Adam, a "
      "tenth of the steps warm-up and half a cosine down to 0, rates {} (with 24 layers up to 0.01); {} "
      "seeds, which share weights and data over precisions. bf16: the operands of matrix products are "
      "rounded, as by Autocast, and sums are f32; further parts are rounded number by number, forward and "
      "backward. Losses are compared at the rate that is best for the more precise of the two on the other "
      "seeds, without seeds with a failed run; largest numbers each at its own best rate.",
      kLayers, full.steps, listed(full.rates), full.seeds.size());
}

}  // namespace

const std::vector<Arm>& arms() {
  static const std::vector<Arm> all = {{"pre", "Pre-LN"},
                                       {"post", "Post-LN"},
                                       {"rms", "Pre-LN, RMSNorm"},
                                       {"deep", "DeepNorm"},
                                       {"none", "no norm"}};
  return all;
}

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {{"f32", "f32"},
                                        {"bf16", "products in bf16"},
                                        {"norms", "products and norms"},
                                        {"stream", "products and stream"},
                                        {"softmax", "products and softmax"}};
  return all;
}

Search Setting::search(const std::string& arm, const std::string& mode, std::int64_t layers) const {
  std::vector<double> some = rates;
  if (layers > kLayers) std::erase_if(some, [](double rate) { return rate > 0.02; });
  return {.rates = some, .seeds = seeds, .run = [=](double rate, std::uint64_t seed) {
            return fmt::format("{}-L{}-{}-lr{}-s{}", arm, layers, mode, rate, seed);
          }};
}

Setting setting_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.rates = {1e-2},
            .seeds = seeds_from(options.seed, 5),
            .steps = 150,
            .depths = {kLayers},
            .models = false};
  return {.rates = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
          .seeds = seeds_from(options.seed, 5),
          .steps = 600,
          .depths = {kLayers, 24}};
}

Measured measure_run(const std::string& arm, const std::string& mode, std::int64_t layers, double rate,
                     std::int64_t steps, std::uint64_t seed) {
  TrialOptions options = tiny_trial(steps);
  options.placement = placement_of(arm, mode);
  options.layers = layers;
  if (arm == "rms") options.block.norm = nn::make_norm<nn::RMSNorm>;
  if (mode == "norms") options.block.norm = nn::make_norm<RoundedLayerNorm>;
  options.lr = rate;
  options.seed = seed;
  const Autocast products(mode == "f32" ? f32 : bf16);
  nn::GPT model = new_model(tiny_task(), options);
  Measured measured = measured_of(train(tiny_task(), model, options));

  double largest = 0;
  Vanishing vanishing{.connections = 2 * layers};
  {
    const nn::ForwardHook hook = model.on_forward([&](const nn::Module&, const Tensor& y) {
      const double size = y.detach().abs().max().item();
      largest = std::isfinite(size) ? std::max(largest, size) : INFINITY;
    });
    const CountVanishing counts(vanishing);
    validation_loss(model, tiny_task());
  }
  measured.numbers["largest"] = std::log10(largest);
  if (vanishing.numbers > 0)
    measured.numbers["vanished"] =
        static_cast<double>(vanishing.lost) / static_cast<double>(vanishing.numbers);
  return measured;
}

}  // namespace gradus::lab::precision

namespace gradus::lab {

Study precision_study() {
  return {
      .name = "precision",
      .title = "Half the bits",
      .question = "Which parts of a Transformer need f32 in training, and does it depend on the placement?",
      .setting = precision::setting(),
      .scope = "small recall language, width 16, 600 steps, N(0, 1/fan_in)",
      .plan = precision::plan,
      .figures = precision::figures,
      .report = precision::report};
}

}  // namespace gradus::lab
