#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/long/long.h"

namespace gradus::lab::far {

namespace {

std::string stage_words(const Setting& setting) {
  std::vector<std::string> words;
  for (const Stage& stage : setting.stages)
    words.push_back(fmt::format("{} of {} at {}", counted(stage.steps, "step"),
                                counted(stage.batch, "document"), stage.distance));
  return listed(words);
}

std::string seeds_words(const Setting& setting) {
  return fmt::format("Lines are means over seeds, bars go from the lowest to the highest of {}.",
                     counted(static_cast<std::int64_t>(setting.seeds.size()), "seed"));
}

/// A number at the rate that was chosen by the loss there.
std::vector<double> number_at(const StudyResults& results, const Setting& setting,
                              const nn::Placement& placement, std::int64_t distance,
                              const std::string& number) {
  return at_best(results, setting.search(placement, distance), number_name(number, distance));
}

kit::LineChart chart_of(const StudyResults& results, const Setting& setting, const std::string& number,
                        const std::string& title, const std::string& label) {
  kit::LineChart chart{.title = title,
                       .x_label = "tokens between",
                       .y_label = label,
                       .x_axis = kit::AxisKind::log,
                       .series = {}};
  for (const std::int64_t distance : setting.distances())
    chart.x_ticks.push_back(static_cast<double>(distance));
  for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
    std::vector<double> distances;
    std::vector<std::vector<double>> values;
    for (const std::int64_t distance : setting.distances()) {
      distances.push_back(static_cast<double>(distance));
      values.push_back(number_at(results, setting, placement, distance, number));
    }
    kit::Series series = band(placement.name, distances, values, placement == nn::pre_ln() ? 0 : 1);
    series.spread = kit::Spread::error_bars;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

void add_two(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Pre-LN and Post-LN");
  const std::int64_t furthest = setting.distances().back();
  const std::vector<double> difference =
      paired_difference(best_of(results, setting.search(nn::post_ln(), furthest)).values,
                        best_of(results, setting.search(nn::pre_ln(), furthest)).values);
  std::string sentence = seeds_words(setting);
  if (!difference.empty()) {
    const Spread spread = spread_of(difference);
    sentence += fmt::format(" With {} tokens between, Post-LN minus Pre-LN is {} nats: {}.", furthest,
                            mean_and_range(difference),
                            spread.low > kMargin     ? "Pre-LN is better on every seed"
                            : spread.high < -kMargin ? "Post-LN is better on every seed"
                            : std::max(std::abs(spread.low), std::abs(spread.high)) <= kMargin
                                ? "no more than 0.02 on any seed"
                                : "the seeds do not agree on more than 0.02");
  }
  if (const kit::LineChart chart =
          chart_of(results, setting, "loss", "Loss of the answer", "nats a question, after training there");
      !chart.series.empty())
    page.figure("loss", chart, sentence);
  if (const kit::LineChart chart =
          chart_of(results, setting, "zero", "Right answers before training there", "share of the questions");
      !chart.series.empty())
    page.figure("zero", chart,
                "What a model that was trained at the distances before can do at once, at the next. " +
                    seeds_words(setting));
}

void add_all(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Other placements");
  page.html.paragraph(
      fmt::format("Pre-LN and Post-LN have {}, the others {}; all have the rates {}, each at the one that is "
                  "best of the other "
                  "seeds.",
                  counted(std::ssize(setting.seeds), "seed"),
                  setting.few_seeds.empty() ? "are left to the longer forms"
                                            : counted(std::ssize(setting.few_seeds), "seed"),
                  listed(setting.rates)));
  kit::Table loss{.caption = "Loss of the answer (nats): mean over seeds, least and largest",
                  .header = {"Placement"}};
  kit::Table right{.caption = "Share of right answers after training there", .header = {"Placement"}};
  for (const std::int64_t distance : setting.distances()) {
    loss.header.push_back(fmt::format("{} between", distance));
    right.header.push_back(fmt::format("{} between", distance));
  }
  for (const nn::Placement& placement : setting.placements) {
    loss.rows.push_back({placement.name});
    right.rows.push_back({placement.name});
    for (const std::int64_t distance : setting.distances()) {
      loss.rows.back().push_back(
          mean_and_range(best_of(results, setting.search(placement, distance)).values));
      right.rows.back().push_back(mean_and_range(number_at(results, setting, placement, distance, "right")));
    }
  }
  page.html.table(loss);
  page.html.table(right);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  const FarRecall task;
  page.html.paragraph(
      fmt::format("A document begins with {0} pairs of a key and a value, goes on with noise, and ends with "
                  "{1} questions for the value of a key. Who does not look back loses ln {2} = {3:.2f} "
                  "nats a question; who does, nothing. Models have {4} layers of {5} channels and one "
                  "head, no positions but what causal attention tells; layer {6} sees all tokens, the "
                  "others {7} back. Attention never holds its weights, so that a document of 16,384 tokens "
                  "trains in memory that grows with its length, not with its square.",
                  task.options().keys, task.options().questions, task.options().values, task.forgetful_loss(),
                  kLayers, kChannels, kFullLayer + 1, kWindow));
  page.html.paragraph(
      fmt::format("One training goes from distance to distance, as language models are lengthened: {}, with "
                  "Adam and one rate that rises over 30 steps and then falls like 1/sqrt(step), a tenth of "
                  "it after the first distance, and gradients clipped to a norm of 1. Answers are judged "
                  "on documents that are not trained on.",
                  stage_words(setting)));
  add_two(page, results, setting);
  add_all(page, results, setting);
  page.html.heading("What this does not show");
  page.html.list(
      {"Learning a distance from nothing: at thousands of tokens a match is one of thousands of equally "
       "weighted tokens, and these models learn what to look for at 16 tokens first, as longer ones do at "
       "a few thousand.",
       "A way that goes through many layers: here one look back is enough. Where no layer sees far enough, "
       "what is looked for has to be handed on from layer to layer, and depth, with it the placement, "
       "would matter more.",
       "Text, where what is far is also vague, and models of a size that is used."});
}

}  // namespace gradus::lab::far
