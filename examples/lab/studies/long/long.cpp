// The effect of the placement on recall over thousands of tokens.

#include "lab/studies/long/long.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/statistics/format.h"
#include "lab/studies/studies.h"

namespace gradus::lab::far {

namespace {

enum Stream : std::uint64_t { kTrain = 1, kJudge = 2 };

// Tokens per distance on which answers are judged, in whole documents.
constexpr std::int64_t kJudged = 32768;

std::string run_name(const nn::Placement& placement, double rate, std::uint64_t seed) {
  return fmt::format("{}-lr{}-s{}", name_of(placement), rate, seed);
}

/// Seconds of one core: tokens through all layers, and pairs of tokens through the one that sees all. Judging
/// is forward only, twice a stage.
double seconds_of(const std::vector<Stage>& stages) {
  double seconds = 0;
  for (const Stage& stage : stages) {
    const auto tokens = static_cast<double>(FarRecall().length(stage.distance));
    const double judged = 0.7 * std::clamp(kJudged / tokens, 2.0, 32.0);
    seconds +=
        (static_cast<double>(stage.steps * stage.batch) + judged) * tokens * (5.6e-6 + 1.6e-9 * tokens);
  }
  return seconds;
}

bool is_pre_or_post(const nn::Placement& placement) {
  return placement == nn::pre_ln() || placement == nn::post_ln();
}

struct Judged {
  double loss = 0, right = 0;
};

Judged judge(const nn::GPT& model, const FarRecall& task, std::int64_t distance, std::uint64_t seed) {
  const NoGrad guard;
  const nn::EvalMode eval(model);
  Generator generator(seed, kJudge);
  const std::int64_t questions = task.options().questions;
  const std::int64_t documents = std::clamp<std::int64_t>(kJudged / task.length(distance), 2, 32);
  Judged sum;
  for (std::int64_t i = 0; i < documents; ++i) {
    kit::stop_if_interrupted();
    const Batch one = task.batch(1, distance, generator);
    const Tensor logits = model(one.inputs).slice(1, -questions).reshape({questions, -1});
    const Tensor targets = one.targets.slice(1, -questions).reshape({questions});
    sum.loss += cross_entropy(logits, targets).item();
    sum.right += (logits.argmax(-1) == targets).to(f32).mean().item();
  }
  return {sum.loss / static_cast<double>(documents), sum.right / static_cast<double>(documents)};
}

/// Up over 30 steps, down like 1/sqrt(step), and a tenth of the rate after the first distance, where steps
/// have few documents.
optim::Schedule schedule(double rate, std::int64_t first_stage) {
  return [rate, first_stage](std::int64_t step) {
    return step <= first_stage ? optim::inverse_sqrt(rate, 30)(step) : rate / 10;
  };
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Setting setting = setting_of(options);
  std::vector<StudyRun> runs;
  for (const nn::Placement& placement : setting.placements)
    for (const double rate : setting.rates)
      for (const std::uint64_t seed : is_pre_or_post(placement) ? setting.seeds : setting.few_seeds)
        runs.push_back(
            {.name = run_name(placement, rate, seed),
             .seconds = seconds_of(setting.stages),
             .measure = [=, stages = setting.stages] { return measure(placement, stages, rate, seed); }});
  return runs;
}

/// How far `a` is above `b`, beyond the margin. The ledger counts seeds: a run that loses track at one
/// distance has a loss hundreds of times that of the others, so a mean says little.
std::vector<double> clearly_above(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> above = paired_difference(a, b);
  for (double& value : above) value -= kMargin;
  return above;
}

Figures figures(const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  const auto best = [&](const nn::Placement& placement, std::int64_t distance) {
    return best_of(results, setting.search(placement, distance)).values;
  };
  Figures all;
  const std::int64_t nearest = setting.stages.front().distance;
  for (const std::int64_t distance : setting.distances()) {
    const std::vector<double> pre = best(nn::pre_ln(), distance), post = best(nn::post_ln(), distance);
    all[number_name("post", distance)] = clearly_above(post, pre);
    if (distance == nearest) continue;
    const std::vector<double> post_grows = minus(post, best(nn::post_ln(), nearest)),
                              pre_grows = minus(pre, best(nn::pre_ln(), nearest));
    all[number_name("growth", distance)] = clearly_above(post_grows, pre_grows);
  }
  return all;
}

}  // namespace

std::string number_name(const std::string& number, std::int64_t distance) {
  return fmt::format("{}.D{}", number, distance);
}

std::vector<std::int64_t> Setting::distances() const {
  std::vector<std::int64_t> all;
  for (const Stage& stage : stages) all.push_back(stage.distance);
  return all;
}

Search Setting::search(const nn::Placement& placement, std::int64_t distance,
                       const std::string& number) const {
  return {.rates = rates,
          .seeds = is_pre_or_post(placement) ? seeds : few_seeds,
          .run = [=](double rate, std::uint64_t seed) { return run_name(placement, rate, seed); },
          .number = number_name(number, distance)};
}

Setting setting_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.stages = {{16, 300, 16}, {128, 100, 8}, {1024, 40, 2}},
            .placements = {nn::pre_ln(), nn::post_ln()},
            .rates = {3e-3, 1e-2},
            .seeds = seeds_from(options.seed, 4),
            .few_seeds = {}};
  const bool full = options.budget == Budget::full;
  return {.stages = {{16, 300, 16}, {128, 100, 8}, {1024, 40, 2}, {4096, 30, 1}, {16384, 24, 1}},
          .placements = {nn::pre_ln(), nn::post_ln(), nn::rezero(), nn::deep_norm(), nn::resi_dual(),
                         nn::mix_ln(), nn::peri_ln()},
          .rates = {3e-3, 1e-2},
          .seeds = seeds_from(options.seed, full ? 12 : 4),
          .few_seeds = seeds_from(options.seed, 2)};
}

nn::Placement banded(const nn::Placement& placement) {
  nn::Placement banded = placement;
  banded.block = [inner = placement.block](const nn::BlockOptions& options) {
    nn::BlockOptions here = options;
    here.window = options.layer == kFullLayer ? 0 : kWindow;
    return inner(here);
  };
  return banded;
}

Measured measure(const nn::Placement& placement, const std::vector<Stage>& stages, double rate,
                 std::uint64_t seed) {
  const FarRecall task;
  TrialOptions options;
  options.placement = banded(placement);
  options.seed = seed;
  nn::GPT model({.vocab = task.vocabulary(),
                 .context = task.length(stages.back().distance),
                 .layers = kLayers,
                 .placement = options.placement,
                 .block = {.d_model = kChannels, .heads = 1},
                 .positions = nn::Positions::none,
                 .residual_init_scaling = false});
  Generator data(seed, kTrain), first = data;
  start_weights(model, options, task.batch(stages.front().batch, stages.front().distance, first));
  optim::Adam optimizer(model.parameters(), {.lr = schedule(rate, stages.front().steps)});
  Measured measured;
  for (const Stage& stage : stages) {
    measured.numbers[number_name("zero", stage.distance)] = judge(model, task, stage.distance, seed).right;
    for (std::int64_t step = 0; step < stage.steps; ++step) {
      kit::stop_if_interrupted();
      const Batch batch = task.batch(stage.batch, stage.distance, data);
      optimizer.zero_grad();
      model.loss(batch.inputs, batch.targets).backward();
      optim::clip_grad_norm(model.parameters(), 1.0);  // as is usual where a step has one document
      optimizer.step();
    }
    const Judged end = judge(model, task, stage.distance, seed);
    measured.numbers[number_name("loss", stage.distance)] = end.loss;
    measured.numbers[number_name("right", stage.distance)] = end.right;
  }
  return measured;
}

}  // namespace gradus::lab::far

namespace gradus::lab {

Study long_study() {
  return {.name = "long",
          .title = "Recall over long distances",
          .question = "How does the placement affect the recall of text up to 16,384 tokens back?",
          .setting =
              "GPTs of 4 blocks, 16 channels and one head, without positions, one block of which sees all "
              "tokens and the others 32 back; answers to questions about pairs that precede them by 16 to "
              "16,384 tokens of noise, five distances one after the other in one training (494 steps, Adam, "
              "gradients clipped to 1, 30 steps of warm-up, then like 1/sqrt(step) and a tenth of the rate "
              "after the first distance), rates 0.003 and 0.01; 12 seeds. Readout: the loss of answers on "
              "documents not trained on (nats per question), paired within a seed, whose rate is the one "
              "that is best on the other seeds.",
          .scope = "far recall, width 16, 4 blocks, 494 steps, N(0, 1/fan_in)",
          .plan = far::plan,
          .figures = far::figures,
          .report = far::report};
}

}  // namespace gradus::lab
