#include "browser/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

// The lab's values, not configurable.
constexpr std::int64_t kWidth = 32;

optim::Schedule schedule_of(const Settings& settings) {
  const double peak = settings.rate;
  const std::int64_t warmup = settings.warmup, steps = settings.steps;
  if (settings.decay == "cosine") return optim::warmup_cosine(peak, warmup, steps);
  if (settings.decay == "root") return optim::inverse_sqrt(peak, warmup);
  const optim::Schedule up = optim::warmup_linear(peak, warmup);
  if (settings.decay == "none") return up;
  return [=](std::int64_t step) {
    const auto left = static_cast<double>(std::max<std::int64_t>(steps - step, 0));
    return step <= warmup ? up(step) : peak * left / static_cast<double>(steps - warmup);
  };
}

lab::TrialOptions trial_of(const Settings& settings, const std::string& placement) {
  return {.placement = nn::placement_named(placement),
          .layers = settings.layers,
          .block = {.d_model = kWidth, .heads = 4},
          .lr = settings.rate,
          .warmup = settings.warmup,
          .schedule = [=](double) { return schedule_of(settings); },
          .steps = settings.steps,
          .seed = static_cast<std::uint64_t>(settings.seed)};
}

nn::GPT model_of(const Settings& settings, const std::string& placement) {
  return lab::new_model(lab::recall_task(), trial_of(settings, placement),
                        [&](const nn::GPT& gpt, std::uint64_t seed) {
                          Generator generator(seed, 0);  // as the lab's own weights are drawn
                          lab::set_weights(gpt, settings.start, settings.layers, generator);
                        });
}

void check_range(const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
  check(value >= low && value <= high, "{}: expects a whole number from {} to {}, got {}", what, low, high,
        value);
}

}  // namespace

std::vector<std::string> placement_names() {
  std::vector<std::string> names;
  for (const nn::Placement& placement : nn::placements()) names.push_back(placement.name);
  return names;
}

std::vector<lab::WeightScheme> start_names() {
  std::vector<lab::WeightScheme> schemes;
  for (const lab::WeightScheme& scheme : lab::weight_schemes())
    if (std::string(scheme.name) != "xiong") schemes.push_back(scheme);  // it assumes FFN width = d_model
  return schemes;
}

std::vector<Decay> decays() {
  return {{"none", "none: the peak stays"},
          {"linear", "linear, to 0"},
          {"cosine", "half a cosine, to 0"},
          {"root", "as 1/√step"}};
}

Settings checked(Settings settings) {
  for (std::string& name : settings.placements) name = nn::placement_named(name).name;
  check(settings.placements[0] != settings.placements[1],
        "{} cannot be compared with itself: choose two placements", settings.placements[0]);
  check_range("layers", settings.layers, 1, 48);
  check(settings.rate > 0 && settings.rate <= 1, "rate: expects a number above 0, at most 1, got {}",
        settings.rate);
  check_range("warm-up", settings.warmup, 0, 10'000);
  check_range("seed", settings.seed, 0, 999);
  check_range("steps", settings.steps, 1, 5000);
  const std::vector<lab::WeightScheme> starts = start_names();
  std::string names;
  for (const lab::WeightScheme& scheme : starts)
    names += (names.empty() ? "" : ", ") + std::string(scheme.name);
  check(std::any_of(starts.begin(), starts.end(),
                    [&](const lab::WeightScheme& scheme) { return scheme.name == settings.start; }),
        "initial weights: there are {}, got {}", names, settings.start);
  const std::vector<Decay> all = decays();
  check(std::any_of(all.begin(), all.end(), [&](const Decay& one) { return one.name == settings.decay; }),
        "decay: expects none, linear, cosine or root, got {}", settings.decay);
  check(settings.decay == "none" || settings.decay == "root" || settings.warmup < settings.steps,
        "warm-up: expects fewer than the {} steps that end at a rate of 0, got {}", settings.steps,
        settings.warmup);
  return settings;
}

std::vector<double> rates(const Settings& settings) {
  const optim::Schedule rate = schedule_of(checked(settings));
  std::vector<double> all;
  for (std::int64_t step = 1; step <= settings.steps; ++step) all.push_back(rate(step));
  return all;
}

Model::Model(const Settings& settings, const std::string& placement)
    : placement_(placement),
      gpt_(std::make_unique<nn::GPT>(model_of(settings, placement))),
      trial_(lab::recall_task(), *gpt_, trial_of(settings, placement)),
      rate_(schedule_of(settings)) {}

const ModelStep& Model::step() {
  const nn::Probe probe;
  trial_.step([&](const lab::TrialStep& at) {
    ModelStep now{.step = at.step,
                  .loss = at.loss,
                  .rate = rate_(at.step),
                  .gradient = optim::grad_norm(gpt_->parameters()),
                  .stream = {},
                  .gradients = {}};
    for (const nn::ProbeRow& row : probe.rows()) {
      if (!row.layer.starts_with("layers.")) continue;  // skips the final norm
      now.stream.push_back(row.activation_norm / std::sqrt(static_cast<double>(kWidth)));
      now.gradients.push_back(row.parameter_gradient_norm);
    }
    steps_.push_back(std::move(now));
  });
  return steps_.back();
}

lab::compare::RunRecord Model::record(const Settings& settings) const {
  const lab::TrialResult result = trial_.result();
  lab::compare::RunRecord run{.options = {.placement = nn::placement_named(placement_),
                                          .layers = settings.layers,
                                          .lr = settings.rate,
                                          .warmup = settings.warmup,
                                          .seed = static_cast<std::uint64_t>(settings.seed)},
                              .final_loss = {},
                              .diverged_at = {},
                              .start_loss = result.start_loss,
                              .losses = result.losses};
  if (result.diverged)
    run.diverged_at = std::ssize(result.losses);
  else
    run.final_loss = result.end_loss;
  for (const ModelStep& at : steps_) run.grad_norms.push_back(at.gradient);
  return run;
}

Session::Session(const Settings& settings)
    : settings_(checked(settings)),
      models_{Model(settings_, settings_.placements[0]), Model(settings_, settings_.placements[1])} {}

std::array<const ModelStep*, 2> Session::step() {
  check(!done(), "Session: all steps are made; begin another");
  std::array<const ModelStep*, 2> now = {};
  for (const std::size_t i : {0, 1})
    if (!models_[i].done()) now[i] = &models_[i].step();
  return now;
}

std::string Session::csv() const {
  std::string text = "placement,layers,start,warmup,seed,step,rate,loss,gradient";
  for (const char* what : {"stream", "gradient"})
    for (std::int64_t l = 1; l <= settings_.layers; ++l) text += fmt::format(",{}_{}", what, l);
  text += '\n';
  for (const Model& model : models_)
    for (const ModelStep& at : model.steps()) {
      text += fmt::format("{},{},{},{},{},{},{},{},{}", model.placement(), settings_.layers, settings_.start,
                          settings_.warmup, settings_.seed, at.step, at.rate, at.loss, at.gradient);
      for (const std::vector<double>* values : {&at.stream, &at.gradients})
        for (const double value : *values) text += fmt::format(",{:.7g}", value);
      text += '\n';
    }
  return text;
}

}  // namespace gradus::browser
