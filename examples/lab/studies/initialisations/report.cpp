#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/intervals.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/initialisations/initialisations.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::lab::initialisations {

namespace {

/// Initial weights as an item of charts, with the same style for a scheme in all of them.
struct Scheme {
  std::string name, title;
  int style;
};
std::vector<Scheme> schemes_of(const Depth& depth) {
  const auto all = weight_schemes();
  std::vector<Scheme> schemes;
  for (const std::string& name : depth.schemes) {
    const auto place =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return name == one.name; });
    schemes.push_back({name, place->title, static_cast<int>(place - all.begin())});
  }
  return schemes;
}

/// Post-LN's loss above Pre-LN's, by initial weights; empty before two seeds have finished.
std::string describe_differences(const StudyResults& results, const Depth& depth) {
  std::vector<std::string> words;
  for (const Scheme& scheme : schemes_of(depth)) {
    const auto loss = [&](const char* placement) {
      return loss_over(results, depth, scheme.name, placement, Over::best_rate);
    };
    const std::vector<double> differences = finite(minus(loss(kPlacements[1]), loss(kPlacements[0])));
    if (differences.size() < 2) continue;
    const Interval interval = t_interval(differences, 0.95);
    words.push_back(fmt::format("{} ± {} ({})", kit::number_text(mean(differences), 3),
                                kit::number_text((interval.high - interval.low) / 2, 3), scheme.title));
  }
  return words.empty() ? ""
                       : fmt::format(
                             " Post-LN's loss minus Pre-LN's, each at its best rate, with 95% t "
                             "intervals over seeds: {}.",
                             listed(words));
}

void add_rates(Page& page, const StudyResults& results) {
  for (const Depth& depth : depths_of(results.options)) {
    const auto chart = [&](const char* placement) {
      const auto losses = [&](const Scheme& scheme, double lr) {
        return at_rate(results, depth.search(scheme.name, placement), lr);
      };
      return kit::LineChart{.title = fmt::format("{}, {} layers", placement, depth.layers),
                            .x_label = "learning rate",
                            .y_label = "nats per character",
                            .x_axis = kit::AxisKind::log,
                            .x_ticks = depth.rates,
                            .series = lines(schemes_of(depth), depth.rates, losses)};
    };
    page.figure(fmt::format("initialisations-L{}", depth.layers),
                panels(fmt::format("Final loss against the learning rate, {} layers", depth.layers),
                       kPlacements, chart),
                fmt::format("A scheme that is easy to train has a low, wide valley. Points are means over "
                            "{}; bars range from the lowest to the highest.{}",
                            count_seeds(depth.seeds.size()), describe_differences(results, depth)));
  }
}

void add_best(Page& page, const StudyResults& results) {
  kit::Table table{.caption = "Loss at the best rate, mean (lowest to highest seed), nats",
                   .header = {"layers", "initial weights", "Pre-LN", "Post-LN", "diverged, Pre", "Post"}};
  for (const Depth& depth : depths_of(results.options))
    for (const Scheme& scheme : schemes_of(depth)) {
      const Search pre = depth.search(scheme.name, kPlacements[0]),
                   post = depth.search(scheme.name, kPlacements[1]);
      table.rows.push_back(
          {std::to_string(depth.layers), scheme.title, mean_and_range(best_of(results, pre).values),
           mean_and_range(best_of(results, post).values), share_of(of_all_rates(results, pre, "diverged")),
           share_of(of_all_rates(results, post, "diverged"))});
    }
  page.html.table(table);
}

/// Which of two has the larger spread, in how many seeds.
std::string spread_sentence(const StudyResults& results, const Depth& depth) {
  const auto pre = spread_of_schemes(results, depth, kPlacements[0], Over::best_rate),
             post = spread_of_schemes(results, depth, kPlacements[1], Over::best_rate);
  const std::vector<double> differences = paired_difference(post, pre);
  if (differences.empty()) return fmt::format("With {} layers not all runs are done.", depth.layers);
  const Difference difference = difference_of(differences);
  const char* more = difference.side() > 0   ? "Post-LN's depends more on the initial weights"
                     : difference.side() < 0 ? "Pre-LN's depends more on the initial weights"
                                             : "neither depends more on the initial weights";
  return fmt::format(
      "With **{} layers** the loss at the best rate differs between initial weights by {} nats in Pre-LN and "
      "by {} in Post-LN: {} ({}).",
      depth.layers, mean_and_range(pre), mean_and_range(post), more, agreement(difference));
}

std::string scaling_sentence(const StudyResults& results, const Depth& depth, const char* placement) {
  const std::vector<double> mean_gain =
                                finite(gain_of_scaling(results, depth, placement, Over::mean_of_rates)),
                            best_gain = gain_of_scaling(results, depth, placement, Over::best_rate);
  if (mean_gain.empty())
    return fmt::format("{} with {} layers: not all runs are done.", placement, depth.layers);
  const Difference difference = difference_of(mean_gain);
  return fmt::format(
      "**{} with {} layers**: dividing by √(2L) {} the mean loss over rates, by {} nats ({}); at the best "
      "rate by {}.",
      placement, depth.layers,
      difference.side() > 0   ? "lowers"
      : difference.side() < 0 ? "raises"
                              : "does not change",
      mean_and_range(mean_gain), agreement(difference), mean_and_range(best_gain));
}

void add_settings(Page& page, const StudyResults& results) {
  const TrialOptions defaults;
  page.html.paragraph(fmt::format(
      "GPTs of {} channels and {} heads on the recall language: {} steps of {} windows of {} characters, "
      "Adam (0.9, 0.999), no warm-up, no clipping, no decay. Embeddings start at N(0, 1/d), biases at 0, "
      "gains at 1 in all; only the blocks' matrices differ, and within a seed they are the same numbers "
      "times factors. All schemes and both placements are given the same rates. Guessing by frequency alone "
      "gives {} nats; the lowest possible loss is {}. A run counts as diverged when a loss is not finite or "
      "above 4 log(vocabulary); its loss is then the one it started from.",
      defaults.block.d_model, defaults.block.heads, kSteps, defaults.batch, recall_task().context(),
      nats(recall_task().context_free_loss()), nats(recall_task().entropy().value_or(kit::nothing))));
  kit::Table table{.caption = "Searched", .header = {"layers", "initial weights", "rates", "seeds"}};
  for (const Depth& depth : depths_of(results.options)) {
    std::vector<std::string> titles;
    for (const Scheme& scheme : schemes_of(depth)) titles.push_back(scheme.title);
    table.rows.push_back({std::to_string(depth.layers), listed(titles), listed(depth.rates),
                          std::to_string(depth.seeds.size())});
  }
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  page.html.heading("Initial weights by rate");
  add_settings(page, results);
  std::vector<std::string> spreads, scalings;
  for (const Depth& depth : depths_of(results.options)) {
    if (depth.schemes.size() > 2) spreads.push_back(spread_sentence(results, depth));
    if (std::count(depth.schemes.begin(), depth.schemes.end(), "fan_in_scaled") > 0)
      for (const char* placement : kPlacements)
        scalings.push_back(scaling_sentence(results, depth, placement));
  }
  page.html.list(spreads);
  add_rates(page, results);
  add_best(page, results);
  page.html.heading("1/√N at the start");
  page.html.paragraph(
      "N(0, 1/fan_in) is compared with the same weights whose output projections and second FFN matrices are "
      "divided by √(2L), for N = 2L branches: GPT-2's scheme without its 0.02. Losses are compared within a "
      "seed.");
  page.html.list(scalings);
  page.limits({
      "Long training: 280 steps measure its beginning, and initial weights matter most there.",
      "Width: at 32 channels a deviation of 0.02 is small (1/√32 is 0.18), so N(0, 0.02²) starts with "
      "branches that hardly count.",
      "Warm-up: with it, more initial weights may work for Post-LN.",
      "T-Fixup itself, which removes the norms.",
      "The largest of several noisy differences: a spread over kinds of weights is above zero even where all "
      "are equally good. “The best rate” of a seed is chosen on the other seeds.",
  });
}

}  // namespace gradus::lab::initialisations
