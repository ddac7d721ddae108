// Signal and gradient before training, by depth, placement and initial weights, and in its first steps.

#include "lab/studies/start/start.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>

#include "lab/studies/slope.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace start {

std::vector<std::int64_t> depths_of(const StudyOptions& options) {
  if (options.budget == Budget::quick) return {2, 8, kDepth};
  return {2, 8, kDepth, 96, 192};
}

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, per_budget(options.budget, 5, 10, 30));
}

std::vector<std::uint64_t> trained_seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, per_budget(options.budget, 3, 5, 15));
}

std::vector<std::uint64_t> regulated_seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed + 270, per_budget(options.budget, 3, 5, 10));
}

std::string stack_name(const std::string& placement, const std::string& scheme, std::int64_t layers,
                       std::uint64_t seed) {
  return fmt::format("{}-{}-L{}-s{}", placement, scheme, layers, seed);
}
std::string formulas_name(const std::string& scheme, std::uint64_t seed) {
  return fmt::format("formulas-{}-s{}", scheme, seed);
}
std::string information_name(std::uint64_t seed) { return fmt::format("information-s{}", seed); }
std::string scaled_name(std::uint64_t seed) { return fmt::format("scaled-s{}", seed); }
std::string trained_name(const std::string& placement, std::uint64_t seed) {
  return fmt::format("trained-{}-s{}", placement, seed);
}
std::string regulated_name(std::uint64_t seed) { return fmt::format("regulated-s{}", seed); }

Runs stacks_of(const StudyResults& results, const std::string& placement, const std::string& scheme,
               std::int64_t layers) {
  return {results, seeds_of(results.options),
          [&](std::uint64_t seed) { return stack_name(placement, scheme, layers, seed); }};
}
Runs formulas_of(const StudyResults& results, const std::string& scheme) {
  return {results, seeds_of(results.options),
          [&](std::uint64_t seed) { return formulas_name(scheme, seed); }};
}
Runs information_of(const StudyResults& results) {
  return {results, seeds_of(results.options), information_name};
}
Runs scaled_of(const StudyResults& results) { return {results, seeds_of(results.options), scaled_name}; }
Runs trained_of(const StudyResults& results, const std::string& placement) {
  return {results, trained_seeds_of(results.options),
          [&](std::uint64_t seed) { return trained_name(placement, seed); }};
}
Runs regulated_of(const StudyResults& results) {
  return {results, regulated_seeds_of(results.options), regulated_name};
}

namespace {

void plan_stacks(std::vector<StudyRun>& runs, const StudyOptions& options, std::uint64_t seed) {
  const auto add = [&](const std::string& placement, const std::string& scheme, std::int64_t layers) {
    runs.push_back(
        {.name = stack_name(placement, scheme, layers, seed),
         .seconds = (scheme == "xiong" ? 2 : 1) * 0.0007 * static_cast<double>(layers),  // two losses
         .measure = [=] { return measure_stack(placement, scheme, layers, seed); }});
  };
  for (const std::int64_t layers : depths_of(options))
    for (const char* shortcuts : kShortcuts) add(shortcuts, "fan_in", layers);
  for (const Titled& placement : kPlacements) {
    for (const std::int64_t layers : depths_of(options)) add(placement.name, "xiong", layers);
    add(placement.name, "xavier", kDepth);
    add(placement.name, "gpt2", kDepth);
  }
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  const std::int64_t steps = options.budget == Budget::quick ? kEarly : kLater;
  for (const std::uint64_t seed : seeds_of(options)) {
    plan_stacks(runs, options, seed);
    for (const char* const scheme : kFormulaSchemes)
      runs.push_back({.name = formulas_name(scheme, seed), .seconds = 0.1, .measure = [=] {
                        return measure_formulas(scheme, seed);
                      }});
    runs.push_back({.name = information_name(seed), .seconds = 0.6, .measure = [=] {
                      return measure_information(seed);
                    }});
    runs.push_back(
        {.name = scaled_name(seed), .seconds = 0.02, .measure = [=] { return measure_scaled(seed); }});
  }
  for (const std::uint64_t seed : trained_seeds_of(options))
    for (const Titled& placement : kPlacements)
      runs.push_back({.name = trained_name(placement.name, seed),
                      .seconds = 0.018 * static_cast<double>(steps),
                      .measure = [=] { return measure_trained(placement.name, seed, steps); }});
  const std::int64_t regulated = options.budget == Budget::quick ? 20 : kRegulatedSteps;
  for (const std::uint64_t seed : regulated_seeds_of(options))
    runs.push_back({.name = regulated_name(seed),
                    .seconds = 0.018 * static_cast<double>(regulated),
                    .measure = [=] { return measure_regulated(seed, regulated); }});
  return runs;
}

constexpr std::array<const char*, 2> kFfn = {"linear1", "linear2"};

/// The mean over kinds of matrices of ln(largest / smallest gradient norm), Pre-LN minus Post-LN; `loss` is
/// "" for that of the first position, "mean." for that of all.
double spread(const StudyResults& results, const char* scheme, std::uint64_t seed,
              std::span<const char* const> matrices, const char* loss = "") {
  double sum = 0;
  for (const char* matrix : matrices) {
    const std::string number = fmt::format("{}spread.{}", loss, matrix);
    sum += results.number(stack_name("pre", scheme, kDepth, seed), number) -
           results.number(stack_name("post", scheme, kDepth, seed), number);
  }
  return sum / static_cast<double>(matrices.size());
}

/// ln(share) over that of (2/3)^((L-1)/2): 1 if gradients vanish like that, 0 if they do not.
double of_claimed_slope(double share, std::int64_t layers) {
  return std::log(share) / (0.5 * static_cast<double>(layers - 1) * std::log(2.0 / 3));
}

/// By how much ln(first over last |dL/dW2|) of Post-LN stacks changes with each block of depth; `share` is
/// "share" for the loss of one position, "mean.share" for that of all.
double decay(const StudyResults& results, const char* scheme, const char* share, std::uint64_t seed) {
  std::vector<double> depths, shares;
  for (const std::int64_t layers : depths_of(results.options)) {
    if (layers < kDecayFrom) continue;
    depths.push_back(static_cast<double>(layers));
    shares.push_back(results.number(stack_name("post", scheme, layers, seed), share));
  }
  return exponential_rate(depths, shares);
}

/// Of a size that grows exponentially with depth, the second half's growth on a log scale over the first's
/// is 1; of one that grows linearly it is about 0.3 here.
double evenness(double first, double half, double last) {
  return std::log(last / half) / std::log(half / first);
}

double top_slope(const StudyResults& results, const char* placement, const char* top, std::uint64_t seed) {
  std::vector<double> depths, tops;
  for (const std::int64_t layers : depths_of(results.options)) {
    depths.push_back(static_cast<double>(layers));
    tops.push_back(results.number(stack_name(placement, "xiong", layers, seed), top));
  }
  return log_slope(depths, tops);
}

using Add = std::function<void(const std::string& id, double value)>;

void add_of_stacks(const StudyResults& results, std::uint64_t seed, const Add& add) {
  const auto number = [&](const char* placement, const char* scheme, std::int64_t layers, const char* name) {
    return results.number(stack_name(placement, scheme, layers, seed), name);
  };
  add("direct.final-norm", number("pre", "fan_in", kDepth, "direct"));
  add("arrives", number("pre", "fan_in", kDepth, "arrives"));
  add("signal.fan_in.L2", number("post", "fan_in", 2, "cosine"));
  add("signal.fan_in.L32", number("post", "fan_in", kDepth, "cosine"));
  add("signal.gpt2.L32", number("post", "gpt2", kDepth, "cosine"));
  add("growth.post.start",
      number("post", "xiong", kDepth, "size.last") / number("post", "xiong", kDepth, "size.first"));
  add("exponential.pre.start",
      evenness(number("pre", "xiong", kDepth, "size.first"), number("pre", "xiong", kDepth, "size.half"),
               number("pre", "xiong", kDepth, "size.last")));
  for (const char* scheme : kSchemes) {
    add(fmt::format("spread.{}", scheme), spread(results, scheme, seed, kMatrices));
    add(fmt::format("slope.{}", scheme), of_claimed_slope(number("post", scheme, kDepth, "share"), kDepth));
  }
  const double xiong = decay(results, "xiong", "share", seed);
  add("decay.xiong", xiong);
  add("decay-share.xiong", xiong / (0.5 * std::log(2.0 / 3)));
  add("decay.xiong.mean", decay(results, "xiong", "mean.share", seed));
  add("decay.fan_in", decay(results, "fan_in", "share", seed));
  add("spread.ffn", spread(results, "xiong", seed, kFfn));
  add("spread.ffn.mean", spread(results, "xiong", seed, kFfn, "mean."));
  for (const auto& [end, top] : {std::pair{"", "top"}, {".mean", "mean.top"}}) {
    add(fmt::format("top.post{}", end), top_slope(results, "post", top, seed));
    add(fmt::format("top.pre{}", end), top_slope(results, "pre", top, seed));
    add(fmt::format("top.ratio{}", end),
        std::log10(number("post", "xiong", kDepth, top) / number("pre", "xiong", kDepth, top)));
  }
  for (const char* placement : {"pre", "post", "none"}) {
    const std::int64_t layers = std::string(placement) == "none" ? 8 : kDepth;  // deeper ones overflow
    const double with = std::log10(number(placement, "fan_in", layers, "activation"));
    const double without =
        std::log10(number(fmt::format("{}-cut", placement).c_str(), "fan_in", layers, "activation"));
    add(fmt::format("shortcut.{}", placement), with - without);
    add(fmt::format("level.{}", placement), std::abs(with));
  }
}

void add_of_formulas(const StudyResults& results, std::uint64_t seed, const Add& add) {
  for (const char* scheme : kFormulaSchemes)
    for (const char* formula : {"sum.pre", "product.post"})
      add(fmt::format("{}.{}", formula, scheme),
          std::log10(results.number(formulas_name(scheme, seed), formula)));
  for (const char* formula : {"chain.pre", "chain.post", "below", "formula.pre", "formula.post"})
    add(formula, results.number(formulas_name("fan_in", seed), formula));
}

void add_of_tokens(const StudyResults& results, std::uint64_t seed, const Add& add) {
  const auto read = [&](const char* name) { return results.number(information_name(seed), name); };
  add("keeps.norm", read("norm.pre") - read("norm.post"));
  add("keeps.direction", read("direction.pre") - read("direction.post"));
  add("branch.norm", read("norm.branch"));
  for (const char* name : {"output.post", "output.pre", "output.input.post", "gradient.post"})
    add(fmt::format("scaled.{}", name), std::log10(results.number(scaled_name(seed), name)));
}

void add_of_training(const StudyResults& results, std::uint64_t seed, const Add& add) {
  const auto number = [&](const char* placement, const char* name) {
    return results.number(trained_name(placement, seed), name);
  };
  for (const char* what : {"stream", "branch", "output"})
    add(fmt::format("smaller.{}", what), number("pre", what) / number("post", what));
  add("spread.trained", number("pre", "spread") - number("post", "spread"));
  add("slope.trained", of_claimed_slope(number("post", "share"), kTrainedLayers));
  add("growth.post.trained", number("post", "size.last") / number("post", "size.first"));
  add("exponential.pre.trained",
      evenness(number("pre", "size.first"), number("pre", "size.half"), number("pre", "size.last")));
}

Figures figures(const StudyResults& results) {
  Figures all;
  const Add add = [&](const std::string& id, double value) {
    if (std::isfinite(value)) all[id].push_back(value);  // without norms a gradient may be 0 or overflow
  };
  for (const std::uint64_t seed : seeds_of(results.options)) {
    add_of_stacks(results, seed, add);
    add_of_formulas(results, seed, add);
    add_of_tokens(results, seed, add);
  }
  for (const std::uint64_t seed : trained_seeds_of(results.options)) add_of_training(results, seed, add);
  add_of_regulated(all, results);
  return all;
}

std::string setting() {
  const StudyOptions full{.budget = Budget::full};
  return fmt::format(
      "Before training: encoder stacks of 64 channels with ReLU on 8 random positions, {} to {} layers, the "
      "gradient of a cross-entropy at the first position unless a row says otherwise; formulas and Jacobians "
      "on 6 blocks of 16 channels and 4 positions with GELU, in f64; read-outs and large branches on 6 "
      "blocks of 32 channels; {} seeds, which draw weights and inputs. In training: GPTs of {} layers and 32 "
      "channels on the recall language, Adam at 0.001 after {} steps of warm-up, batches of 16; {} seeds. A "
      "seed has the same weights and data in both placements, and is one pair. Sublayers at the start and "
      "after {} steps: the same GPT with Pre-LN, {} other seeds.",
      depths_of(full).front(), depths_of(full).back(), seeds_of(full).size(), kTrainedLayers, kEarly,
      trained_seeds_of(full).size(), kRegulatedSteps, regulated_seeds_of(full).size());
}

}  // namespace

}  // namespace start

Study start_study() {
  return {.name = "start",
          .title = "Signal and gradient at the start",
          .question =
              "What do Pre-LN and Post-LN do to the signal and the gradient before training and in its first "
              "steps?",
          .setting = start::setting(),
          .scope = "random stacks of width 16 to 64; trained: recall language, width 32, N(0, 1/fan_in)",
          .plan = start::plan,
          .figures = start::figures,
          .report = start::report};
}

}  // namespace gradus::lab
