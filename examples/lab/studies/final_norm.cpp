// The purpose of the norm after the last block of a Pre-LN stack: in training, in the logits, at inference.

#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/search.h"
#include "lab/studies/studies.h"
#include "lab/studies/tiny.h"

namespace gradus::lab {

namespace final_norm {

namespace {

constexpr double kLayerStep = 2.6e-4;

struct Setting {
  std::vector<std::int64_t> depths;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0;

  Search search(std::int64_t layers, bool with, const std::string& number = "loss") const {
    return {.rates = rates,
            .seeds = seeds,
            .run =
                [=](double rate, std::uint64_t seed) {
                  return fmt::format("L{}-{}-lr{}-s{}", layers, with ? "with" : "without", rate, seed);
                },
            .number = number};
  }
};

// On other seeds 0.001 was far worse than the best of these at all depths, with and without; so was 0.1 for 6
// layers without the norm, and with it 0.03 is already worse.
Setting setting_of(const StudyOptions& options) {
  if (options.budget == Budget::quick)
    return {.depths = {2, 6, 12}, .rates = {3e-3, 1e-2}, .seeds = seeds_from(options.seed, 6), .steps = 200};
  return {.depths = {2, 6, 12, 24},
          .rates = {3e-3, 6e-3, 1e-2, 3e-2},
          .seeds = seeds_from(options.seed, options.budget == Budget::full ? 10 : 6),
          .steps = 600};
}

/// The final norm with the same standard deviation for all tokens: it does not depend on a token's size.
struct FixedScale : nn::Module {
  FixedScale(std::int64_t channels, double scale)
      : weight(parameter("weight", ones({channels}))),
        bias(parameter("bias", zeros({channels}))),
        scale_(scale) {}
  Tensor operator()(const Tensor& x) const { return report((x - x.mean(-1, true)) * scale_ * weight + bias); }
  nn::Parameter weight, bias;

 private:
  double scale_;
};

/// Standard deviation of a token's logits, the mean over tokens.
double logit_scale(const nn::GPT& model) {
  const NoGrad guard;
  const Tensor logits = model(tiny_task().validation().inputs.slice(0, 0, 64));
  return sqrt(logits.var(-1, {.unbiased = false})).mean().item();
}

/// 1 / sigma of the stream after the last block, the mean over the tokens of the validation set.
double mean_scale(const nn::GPT& model, std::int64_t layers) {
  const NoGrad guard;
  const std::string last = fmt::format("layers.{}", layers - 1);
  double scale = 0;
  const nn::ForwardHook hook = model.on_forward([&](const nn::Module& module, const Tensor& y) {
    if (module.path() == last) scale = (1.0 / sqrt(y.var(-1, {.unbiased = false}) + 1e-5)).mean().item();
  });
  (void)model(tiny_task().validation().inputs);
  return scale;
}

/// The loss of the same weights with the final norm replaced.
double loss_with(const nn::GPT& trained, TrialOptions options) {
  nn::GPT changed = new_model(tiny_task(), options);
  changed.load_state_dict(trained.state_dict(), {.strict = false});
  return validation_loss(changed, tiny_task());
}

Measured measure(std::int64_t layers, bool with, double rate, std::int64_t steps, std::uint64_t seed) {
  TrialOptions options = tiny_trial(steps);
  options.layers = layers;
  options.final_norm = with;
  options.lr = rate;
  options.seed = seed;
  nn::GPT model = new_model(tiny_task(), options);
  const double at_start = logit_scale(model);
  Measured measured = measured_of(train(tiny_task(), model, options));
  measured.numbers["logits-start"] = std::log10(at_start);
  measured.numbers["logits-end"] = std::log10(logit_scale(model));
  if (!with) return measured;
  TrialOptions fixed = options, removed = options;
  removed.final_norm = false;
  measured.numbers["removed"] = loss_with(model, removed);
  fixed.placement.leave = [scale = mean_scale(model, layers)](const nn::BlockOptions& block) {
    return FixedScale(block.d_model, scale);
  };
  measured.numbers["fixed"] = loss_with(model, fixed);
  return measured;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Setting setting = setting_of(options);
  std::vector<StudyRun> runs;
  for (const std::int64_t layers : setting.depths)
    for (const bool with : {true, false})
      for (const double rate : setting.rates)
        for (const std::uint64_t seed : setting.seeds)
          runs.push_back(
              {.name = setting.search(layers, with).run(rate, seed),
               .seconds = kLayerStep * static_cast<double>((layers + 1) * setting.steps),
               .measure = [=, steps = setting.steps] { return measure(layers, with, rate, steps, seed); }});
  return runs;
}

Figures figures(const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  Figures all;
  for (const std::int64_t layers : setting.depths) {
    const std::string depth = ".L" + std::to_string(layers);
    const Search with = setting.search(layers, true), without = setting.search(layers, false);
    const std::vector<double> loss = best_of(results, with).values;
    all["train" + depth] = paired_difference(best_of(results, without).values, loss);
    all["inference" + depth] = paired_difference(at_best(results, with, "removed"), loss);
    all["logits" + depth] =
        paired_difference(at_best(results, without, "logits-start"), at_best(results, with, "logits-start"));
  }
  return all;
}

/// The axes of a chart against depth.
kit::LineChart axes(const Setting& setting, const std::string& title, const std::string& y) {
  return {.title = title,
          .x_label = "layers",
          .y_label = y,
          .x_axis = kit::AxisKind::log,
          .x_ticks = as_doubles(setting.depths)};
}

struct Kind {
  std::string name;
  bool with;
};
const std::vector<Kind> kKinds = {{"with the final norm", true}, {"without", false}};

/// "Lines are geometric means over seeds; bars range from the lowest to the highest of 10 seeds."
std::string describe_geometric_bars(std::size_t seeds) {
  return fmt::format("Lines are geometric means over seeds; bars range from the lowest to the highest of {}.",
                     count_seeds(seeds));
}

/// "Depths at which the loss without the final norm is more than 0.02 nats higher on every seed: 2 and 6
/// layers; lower by as much: none."
std::string describe_clear_depths(const Figures& all, const Setting& setting, const std::string& measure) {
  std::vector<std::int64_t> worse, better;
  for (const std::int64_t layers : setting.depths) {
    const Spread spread = spread_of(all.at(fmt::format("{}.L{}", measure, layers)));
    if (spread.low > 0.02) worse.push_back(layers);
    if (spread.high < -0.02) better.push_back(layers);
  }
  const auto words = [](const std::vector<std::int64_t>& depths) {
    return depths.empty() ? "none" : listed(depths) + " layers";
  };
  return fmt::format(
      "Depths at which the loss without the final norm is more than 0.02 nats higher on every seed: {}; "
      "lower by as much: {}.",
      words(worse), words(better));
}

void add_training(Page& page, const StudyResults& results, const Setting& setting, const Figures& all) {
  page.html.heading("Training with and without it");
  page.html.paragraph(describe_tiny(setting.steps));
  page.html.paragraph(
      fmt::format("Both are searched over the same rates, {}; a seed's rate is the best of the other seeds.",
                  listed(setting.rates)));
  kit::LineChart chart = axes(setting, "Final loss of Pre-LN", "nats per character");
  chart.y_low = 0.65;  // room for the label of the entropy below the points
  chart.references = {{.at = *tiny_task().entropy(), .label = "entropy"},
                      {.at = tiny_baseline(), .label = "n-gram"}};
  chart.series = lines(kKinds, setting.depths, [&](const Kind& kind, std::int64_t layers) {
    return best_of(results, setting.search(layers, kind.with)).values;
  });
  page.figure("training", chart,
              describe_bars(setting.seeds.size()) + " " + describe_clear_depths(all, setting, "train"));
  kit::Table table{.caption = "Final loss: mean over seeds, lowest and highest; chosen rates",
                   .header = {"Layers", "With", "rate", "Without", "rate", "Without - with"}};
  for (const std::int64_t layers : setting.depths) {
    const Found with = best_of(results, setting.search(layers, true)),
                without = best_of(results, setting.search(layers, false));
    table.rows.push_back({std::to_string(layers), mean_and_range(with.values), chosen_rates(with),
                          mean_and_range(without.values), chosen_rates(without),
                          mean_and_range(all.at(fmt::format("train.L{}", layers)))});
  }
  page.html.table(table);
}

void add_logits(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("The scale of the logits");
  const std::string bars = describe_geometric_bars(setting.seeds.size());
  const Titled when[] = {{"logits-start", "Logits before the first step"},
                         {"logits-end", "Logits after training"}};
  for (const Titled& one : when) {
    kit::LineChart chart = axes(setting, one.title, "standard deviation over the vocabulary");
    chart.y_axis = kit::AxisKind::log;
    chart.series = lines(kKinds, setting.depths, [&](const Kind& kind, std::int64_t layers) {
      return at_best(results, setting.search(layers, kind.with), one.name);
    });
    for (kit::Series& line : chart.series)
      for (std::vector<double>* ends : {&line.y, &line.low, &line.high})
        for (double& value : *ends) value = std::pow(10.0, value);
    page.figure(one.name, chart,
                one.name == "logits-end" ? "The same after training. " + bars
                                         : "Without the final norm the head reads a stream that has grown "
                                           "with every block; with it, one of a fixed size. " +
                                               bars);
  }
}

void add_inference(Page& page, const StudyResults& results, const Setting& setting, const Figures& all) {
  page.html.heading("Removed from a trained model");
  kit::LineChart chart = axes(setting, "Loss of a trained Pre-LN stack", "nats per character");
  chart.y_axis = kit::AxisKind::log;
  const std::vector<Titled> kinds = {
      {"loss", "as trained"}, {"fixed", "one scale for all tokens"}, {"removed", "norm removed"}};
  chart.series = lines(kinds, setting.depths, [&](const Titled& kind, std::int64_t layers) {
    return at_best(results, setting.search(layers, true), kind.name);
  });
  page.figure(
      "inference", chart,
      fmt::format(
          "All lines have the same weights. \u201COne scale\u201D keeps the gain, the bias and the "
          "subtraction of the mean, and divides every token by the same value, the reciprocal of the mean of "
          "1/sigma; its distance from \u201Cas trained\u201D is the token-by-token effect of the norm. {} {}",
          describe_bars(setting.seeds.size()), describe_clear_depths(all, setting, "inference")));
}

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  const Figures all = figures(results);
  add_training(page, results, setting, all);
  add_logits(page, results, setting);
  add_inference(page, results, setting, all);
  page.limits(
      {"Deep models of a useful width, trained for long: a norm that matters little here may matter more "
       "where logits have 50,000 entries.",
       "Models with a separate head: here the head is the token embedding, so the scale of the logits cannot "
       "be learned separately from the scale of the input.",
       "Fine-tuning after the norm was removed: weights that were trained with it may adapt."});
}

}  // namespace

}  // namespace final_norm

Study final_norm_study() {
  return {
      .name = "final-norm",
      .title = "The norm after the last block",
      .question = "Does a Pre-LN stack need its final norm, and what does that norm do?",
      .setting =
          "Pre-LN GPTs of 2, 6, 12 and 24 blocks, 16 channels and 2 heads, the head tied to the embedding, "
          "on the small recall language (3 boxes, 4 things, 24 characters): 600 steps of 8 documents, Adam, "
          "warm-up over 60 steps and half a cosine, rates 0.003, 0.006, 0.01 and 0.03 with and without the "
          "norm; 10 seeds. A seed's rate is the best of the other seeds; losses are measured on 256 "
          "documents that no model was trained on, and differences are taken within a seed.",
      .scope = "small recall language, width 16, 600 steps, N(0, 1/fan_in)",
      .plan = final_norm::plan,
      .figures = final_norm::figures,
      .report = final_norm::report};
}

}  // namespace gradus::lab
