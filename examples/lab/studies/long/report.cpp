#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/long/long.h"

namespace gradus::lab::far {

namespace {

std::string list_stages(const Setting& setting) {
  std::vector<std::string> words;
  for (const Stage& stage : setting.stages)
    words.push_back(fmt::format("{} of {} at {}", counted(stage.steps, "step"),
                                counted(stage.batch, "document"), stage.distance));
  return listed(words);
}

/// A number at the rate that was chosen by the loss at this distance.
std::vector<double> number_at(const StudyResults& results, const Setting& setting,
                              const nn::Placement& placement, std::int64_t distance,
                              const std::string& number) {
  return at_best(results, setting.search(placement, distance), number_name(number, distance));
}

kit::LineChart chart_of(const StudyResults& results, const Setting& setting, const std::string& number,
                        const std::string& title, const std::string& label) {
  return {.title = title,
          .x_label = "tokens between",
          .y_label = label,
          .x_axis = kit::AxisKind::log,
          .x_ticks = as_doubles(setting.distances()),
          .series = lines(std::vector<nn::Placement>{nn::pre_ln(), nn::post_ln()}, setting.distances(),
                          [&](const nn::Placement& placement, std::int64_t distance) {
                            return number_at(results, setting, placement, distance, number);
                          })};
}

void add_two(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Pre-LN and Post-LN");
  const std::int64_t furthest = setting.distances().back();
  const std::vector<double> difference =
      paired_difference(best_of(results, setting.search(nn::post_ln(), furthest)).values,
                        best_of(results, setting.search(nn::pre_ln(), furthest)).values);
  const std::string bars = describe_bars(setting.seeds.size());
  std::string sentence = bars;
  if (!difference.empty()) {
    const Spread spread = spread_of(difference);
    sentence += fmt::format(" With {} tokens in between, Post-LN minus Pre-LN is {} nats: {}.", furthest,
                            mean_and_range(difference),
                            spread.low > kMargin     ? "Pre-LN is better on every seed"
                            : spread.high < -kMargin ? "Post-LN is better on every seed"
                            : std::max(std::abs(spread.low), std::abs(spread.high)) <= kMargin
                                ? "at most 0.02 on every seed"
                                : "seeds do not agree on a difference of more than 0.02");
  }
  page.figure(
      "loss",
      chart_of(results, setting, "loss", "Loss of the answer", "nats per question, after training there"),
      sentence);
  page.figure(
      "zero",
      chart_of(results, setting, "zero", "Accuracy before training at that distance", "share of questions"),
      "Accuracy of a model at its next distance, after training on the shorter ones and before "
      "training on that one. " +
          bars);
}

void add_all(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Other placements");
  page.html.paragraph(fmt::format(
      "Pre-LN and Post-LN have {}, the others {}; all have the rates {}, and each seed takes the one that is "
      "best on the other seeds.",
      count_seeds(setting.seeds.size()),
      setting.few_seeds.empty() ? "are left to the longer forms" : count_seeds(setting.few_seeds.size()),
      listed(setting.rates)));
  struct Distance {
    std::string name;
    std::int64_t tokens;
  };
  std::vector<Distance> distances;
  for (const std::int64_t distance : setting.distances())
    distances.push_back({fmt::format("{} between", distance), distance});
  const Titled tables[] = {{"loss", "Loss of the answer (nats): mean over seeds, lowest and highest"},
                           {"right", "Share of right answers after training there"}};
  for (const Titled& table : tables)
    page.html.table(cross_table(table.title, "Placement", setting.placements, distances,
                                [&](const nn::Placement& placement, const Distance& distance) {
                                  return mean_and_range(
                                      number_at(results, setting, placement, distance.tokens, table.name));
                                }));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  const FarRecall task;
  page.html.paragraph(fmt::format(
      "A document begins with {0} pairs of a key and a value, goes on with noise, and ends with {1} "
      "questions for the value of a key. A model that does not look back loses ln {2} = {3:.2f} nats per "
      "question; one that does can reach 0. Models have {4} layers of {5} channels and one head, and no "
      "positions except the order that causal attention implies; layer {6} sees all tokens, the others {7} "
      "back. Attention never stores its weights, so a document of 16,384 tokens trains in memory that grows "
      "with its length, not with its square.",
      task.options().keys, task.options().questions, task.options().values, task.forgetful_loss(), kLayers,
      kChannels, kFullLayer + 1, kWindow));
  page.html.paragraph(
      fmt::format("One training goes from distance to distance, as when the context of a language model is "
                  "extended: {}, with Adam and one rate that rises over 30 steps and then falls like "
                  "1/sqrt(step), a tenth of it after the first distance, and gradients clipped to a norm of "
                  "1. Answers are judged on documents that are not trained on.",
                  list_stages(setting)));
  add_two(page, results, setting);
  add_all(page, results, setting);
  page.limits(
      {"Learning a long distance from scratch: at thousands of tokens a match is one of thousands of equally "
       "weighted tokens, and these models first learn at 16 tokens which token to look for, as models with "
       "longer contexts do at a few thousand.",
       "A path through many layers: here one look back is enough. Where no layer sees far enough, "
       "information has to pass from layer to layer, and depth, and with it the placement, would matter "
       "more.",
       "Text, where distant information is also vague, and models of practical size."});
}

}  // namespace gradus::lab::far
