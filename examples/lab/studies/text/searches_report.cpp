// The parts of the page of the study `text` on its searches: their choices, and the results on other seeds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/statistics/outcomes.h"
#include "lab/studies/charts.h"
#include "lab/studies/text/comparison.h"
#include "lab/studies/text/text.h"
#include "lab/training/weights.h"

namespace gradus::lab::real_text {

namespace {

std::vector<Choice> all_choices(const StudyResults& results, const Comparison& comparison) {
  std::vector<Choice> choices;
  for (const Arm& arm : comparison.arms) choices.emplace_back(results, comparison, arm);
  return choices;
}

std::vector<std::int64_t> depths_of(const Comparison& comparison) {
  std::vector<std::int64_t> depths;
  for (const Arm& arm : comparison.arms)
    if (depths.empty() || depths.back() != arm.layers) depths.push_back(arm.layers);
  return depths;
}

std::string describe_design(const Design& design) {
  return fmt::format("{}, rate {}, {}", weight_scheme(design.scheme).title, kit::number_text(design.rate),
                     describe_warmup(design.warmup));
}

void add_rules(Page& page, const StudyResults& results, const Comparison& comparison) {
  std::vector<std::string> weights;
  for (const std::string& scheme : comparison.schemes) weights.emplace_back(weight_scheme(scheme).title);
  std::string rules = fmt::format(
      "{} steps, initial weights {} (\u201Cscaled\u201D: smaller matrices into the stream), {} steps of "
      "warm-up, rates {} to {}, a factor of 2 apart, and {} to {} where the best is at an edge. Fixed before "
      "the first run: for each arm and warm-up all settings are run on one seed, the best of them on the "
      "next, {} in turn, by the mean over the seeds so far; {} other seeds judge what {} chose. A run "
      "**failed** when it diverged or ended less than 0.1 nats below the loss without looking back; seeds "
      "with a failed run are left out of differences.",
      comparison.steps, listed(weights), listed(comparison.warmups),
      kit::number_text(comparison.ladder.at(comparison.first)),
      kit::number_text(comparison.ladder.at(comparison.last)), kit::number_text(comparison.ladder.front()),
      kit::number_text(comparison.ladder.back()),
      listed(std::vector<std::int64_t>(comparison.kept.begin(), comparison.kept.end())),
      comparison.judging.size(), counted(std::ssize(comparison.searching), "seed"));
  if (const auto free = of_any_run(results, "context-free"), bigram = of_any_run(results, "bigram");
      free && bigram)
    rules += fmt::format(" Without looking back the loss is {:.3f}; a bigram has {:.3f}.", *free, *bigram);
  page.html.paragraph(rules);
}

kit::Table table_of_searches(const Comparison& comparison, const std::vector<Choice>& choices) {
  kit::Table table{
      .caption = "The choices of the searches",
      .header = {"", "Warm-up", "Runs", "Initial weights", "Rate", "Mean loss, searching", "At an edge"}};
  for (const Choice& choice : choices)
    for (std::size_t warmup = 0; warmup < comparison.warmups.size(); ++warmup) {
      const Searched& searched = choice.searched(warmup);
      const std::optional<Design> design = choice.chosen(warmup);
      table.rows.push_back({choice.arm().title(), std::to_string(comparison.warmups[warmup]),
                            std::to_string(searched.runs.size()),
                            design ? weight_scheme(design->scheme).title : "not finished",
                            design ? kit::number_text(design->rate) : "", design ? nats(searched.mean) : "",
                            !design            ? ""
                            : searched.at_edge ? "yes"
                                               : "no"});
    }
  return table;
}

/// Failed and surviving runs of the judging seeds.
kit::Table table_of_judged(const StudyResults& results, const std::vector<Choice>& choices) {
  kit::Table table{
      .caption = "The chosen designs on the judging seeds",
      .header = {"", "Design", "Failed", "95% interval", "Loss of the others", "Below the bigram"}};
  for (const Choice& choice : choices)
    for (const std::size_t warmup : choice.judged()) {
      const std::vector<double> losses = finite(choice.losses(warmup));
      if (losses.empty()) continue;
      const Survival survival = survival_of(losses, failed_loss(results));
      const auto train = std::count_if(losses.begin(), losses.end(),
                                       [&](double loss) { return loss < trained_loss(results); });
      table.rows.push_back({choice.arm().title(), describe_design(*choice.chosen(warmup)),
                            fmt::format("{} of {}", survival.failed, survival.runs),
                            fmt::format("{} to {}", kit::number_text(survival.share.low, 2),
                                        kit::number_text(survival.share.high, 2)),
                            mean_and_range(survival.surviving, 4),
                            fmt::format("{} of {}", train, losses.size())});
    }
  return table;
}

/// The series of an arm's best runs that did not fail.
std::vector<std::vector<double>> best_curves(const StudyResults& results, const Choice& choice,
                                             const std::string& name) {
  std::vector<std::vector<double>> curves;
  if (!choice.best()) return curves;
  const std::vector<double> losses = survivors(results, choice, *choice.best());
  const std::vector<std::vector<double>> all = choice.series(*choice.best(), name);
  for (std::size_t s = 0; s < all.size(); ++s)
    if (!std::isnan(losses.at(s))) curves.push_back(all[s]);
  return curves;
}

kit::Panels searched_rates(const StudyResults& results, const Comparison& comparison,
                           const std::vector<Choice>& choices) {
  return panels("Validation loss against the rate, first searching seed", depths_of(comparison),
                [&](std::int64_t layers) {
                  kit::LineChart chart{.title = counted(layers, "layer"),
                                       .x_label = "learning rate",
                                       .y_label = "loss (nats per character)",
                                       .x_axis = kit::AxisKind::log};
                  int style = 0;
                  for (const Choice& choice : choices) {
                    if (choice.arm().layers != layers) continue;
                    for (std::size_t warmup = 0; warmup < comparison.warmups.size(); ++warmup, ++style) {
                      std::optional<Design> design = choice.chosen(warmup);
                      if (!design) continue;
                      kit::Series line{.name = choice.arm().placement + " " + describe_warmup(design->warmup),
                                       .style = style};
                      for (const double rate : comparison.ladder) {
                        design->rate = rate;
                        const std::string run =
                            run_name(comparison, choice.arm(), *design, comparison.searching.front());
                        if (!results.has(run)) continue;
                        line.x.push_back(rate);
                        line.y.push_back(results.number(run, "loss"));
                      }
                      chart.series.push_back(std::move(line));
                    }
                  }
                  return chart;
                });
}

kit::Panels best_training_losses(const StudyResults& results, const Comparison& comparison,
                                 const std::vector<Choice>& choices) {
  return panels(
      "Training loss after searching, each at its best", depths_of(comparison), [&](std::int64_t layers) {
        kit::LineChart chart{
            .title = counted(layers, "layer"), .x_label = "step", .y_label = "loss (nats per character)"};
        int style = 0;
        for (const Choice& choice : choices) {
          if (choice.arm().layers != layers) continue;
          kit::Series line = band_of_curves(choice.arm().placement, best_curves(results, choice, "losses"),
                                            style++, ends_of_slices(comparison.steps, kParts));
          if (!line.x.empty()) chart.series.push_back(std::move(line));
        }
        return chart;
      });
}

kit::LineChart rises_by_layer(const StudyResults& results, const std::vector<Choice>& choices) {
  kit::LineChart chart{.title = "Loss that dropping one layer adds, on text",
                       .x_label = "layer dropped",
                       .y_label = "rise of the loss (nats)"};
  int style = 0;
  for (const Choice& choice : choices) {
    kit::Series line = band_of_curves(choice.arm().placement, best_curves(results, choice, "drop"), style++);
    if (!line.x.empty()) chart.series.push_back(std::move(line));
  }
  return chart;
}

/// Mean and range of a figure, a dash for none.
std::string range_of(const Figures& all, const std::string& id) {
  const auto found = all.find(id);
  return mean_and_range(found == all.end() ? std::vector<double>{} : found->second);
}

/// The searches and their results.
void add_tables(Page& page, const StudyResults& results, const Comparison& comparison,
                const std::vector<Choice>& choices) {
  add_rules(page, results, comparison);
  page.html.table(table_of_searches(comparison, choices));
  if (const kit::Table judged = table_of_judged(results, choices); !judged.rows.empty())
    page.html.table(judged);
}

}  // namespace

void report_placements(Page& page, const StudyResults& results, const Figures& all) {
  const Comparison comparison = placements_compared(results.options);
  const std::vector<Choice> choices = all_choices(results, comparison);
  const std::vector<std::int64_t> depths = depths_of(comparison);
  page.html.heading("Pre-LN and Post-LN, each at its best");
  add_tables(page, results, comparison, choices);
  page.html.paragraph("Each at its best initial weights, warm-up and rate: " +
                      for_depths(depths, all, "best", "Pre-LN ends lower", "Post-LN ends lower"));
  page.html.paragraph(
      "Pre-LN without warm-up against Post-LN with it, each at its best initial weights and rate: " +
      for_depths(depths, all, "as-well", "Post-LN ends lower", "Pre-LN ends lower"));
  page.figure("best-rates", searched_rates(results, comparison, choices),
              "At the initial weights that the search chose. One seed, the one on which all settings ran.");
  page.figure("best-curves", best_training_losses(results, comparison, choices),
              "Runs that did not fail. " + describe_bands(comparison.judging.size()));
}

void report_scaling(Page& page, const StudyResults& results, const Figures& all) {
  const Comparison comparison = scaling_compared(results.options);
  const std::vector<Choice> choices = all_choices(results, comparison);
  page.html.heading("Deep layers, and layer-norm scaling");
  add_tables(page, results, comparison, choices);
  page.html.paragraph(fmt::format(
      "The deeper half's share of the loss that dropping single layers adds, Pre-LN: {}; an equal share "
      "would be 0.5. LN-Scaling minus Pre-LN: {}. Mean rise of the loss without one of the deeper layers, "
      "LN-Scaling minus Pre-LN: {} nats. Final loss, Pre-LN minus LN-Scaling: {} nats.",
      range_of(all, "share.pre"), range_of(all, "share.scaling"), range_of(all, "rise.scaling"),
      range_of(all, "loss.scaling")));
  page.figure("deep-drop", rises_by_layer(results, choices),
              "Each at its best initial weights and rate. " + describe_bands(comparison.judging.size()));
}

}  // namespace gradus::lab::real_text
