// The page of the study `text-variants`: the searches, their choices, and the results on other seeds.

#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/charts.h"
#include "lab/studies/text_variants/variants.h"
#include "lab/training/weights.h"

namespace gradus::lab::text_variants {

namespace {

using kit::number_text;

std::vector<double> figure_of(const Figures& all, const std::string& id) {
  const auto found = all.find(id);
  return found == all.end() ? std::vector<double>{} : found->second;
}

std::vector<Titled> titled_schemes(const Grid& grid) {
  std::vector<Titled> all;
  for (const std::string& scheme : grid.schemes) all.push_back({scheme, weight_scheme(scheme).title});
  return all;
}

void add_setting(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("The setting");
  std::vector<std::string> schemes;
  for (const Titled& scheme : titled_schemes(grid)) schemes.push_back(scheme.title);
  page.html.key_values(
      "Settings of all runs",
      {{"model", fmt::format("GPT, {}, 64 channels, 4 heads, context 32", counted(grid.layers, "layer"))},
       {"text", "characters, the last tenth for validation: 256 windows"},
       {"optimizer", "AdamW, betas 0.9 and 0.99, decay 0.1 of matrices, gradient clipped to 1"},
       {"rate", fmt::format("up over {}, then half a cosine down to a tenth", counted(grid.warmup, "step"))},
       {"steps and batch", fmt::format("{} of 16 windows", counted(grid.steps, "step"))},
       {"initial weights", listed(schemes)},
       {"rates",
        listed(std::vector<double>(grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.first),
                                   grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.last) + 1))},
       {"rates beyond, where the best is at an edge",
        fmt::format("{} to {}", number_text(grid.ladder.front()), number_text(grid.ladder.back()))},
       {"searching seeds, judging seeds",
        fmt::format("{}, {}", grid.searching.size(), grid.judging.size())}});
  std::string rules =
      "The optimizer, its schedule and the text are those of the study `text`. The search was fixed before "
      "its first run: for each stack and kind of initial weights all rates are run on one seed, and the best "
      "of them on the next. A stack's best kind of weights is the one with the lowest mean there. The "
      "judging seeds had no part in it. A run **fails** when it ends at the loss of predicting without "
      "context or above, and then enters no mean; it **trains** when it ends below a bigram";
  if (const std::optional<Baselines> baselines = baselines_of(results))
    rules += fmt::format(" ({} and {} here)", nats(baselines->context_free), nats(baselines->bigram));
  page.html.paragraph(rules + ".");
  page.html.paragraph(fmt::format(
      "Two more trainings of the best Pre-LN serve the referee. In {} steps it is the control: where losses "
      "do not show that difference on more than half of the seeds, an equal loss decides nothing. In {} "
      "steps it ends at a loss that is possible on this text, whose entropy is unknown: the headroom is at "
      "least the distance to it.",
      grid.shorter(), grid.longer()));
}

kit::Table search_table(const std::vector<Found>& all, const Grid& grid) {
  kit::Table table{
      .caption = "The choices of the searches",
      .header = {"Stack", "Initial weights", "Runs", "Rate", "Mean loss, searching", "At an edge"}};
  for (const Found& found : all)
    for (std::size_t scheme = 0; scheme < grid.schemes.size(); ++scheme) {
      const Searched& searched = found.searched(scheme);
      const bool ended = searched.chosen.has_value();
      table.rows.push_back({found.stack().title, weight_scheme(grid.schemes[scheme]).title,
                            std::to_string(searched.runs.size()),
                            ended ? number_text(grid.ladder[searched.chosen->rate]) : "not finished",
                            ended ? nats(searched.mean) : "",
                            !ended             ? ""
                            : searched.at_edge ? "yes"
                                               : "no"});
    }
  return table;
}

/// Losses of the first searching seed, for the stacks that are judged at every kind of initial weights.
kit::Panels loss_by_rate(const StudyResults& results, const Grid& grid) {
  std::vector<Stack> some;
  for (const Stack& stack : stacks())
    if (stack.each_scheme) some.push_back(stack);
  const std::optional<Baselines> baselines = baselines_of(results);
  return label_once(panels("Loss against rate, the first searching seed", some, [&](const Stack& stack) {
    kit::LineChart chart{.title = stack.title,
                         .x_label = "learning rate",
                         .y_label = "loss (nats per character)",
                         .x_axis = kit::AxisKind::log,
                         .x_ticks = {5e-4, 2e-3, 8e-3, 3.2e-2}};
    chart.series = lines(titled_schemes(grid), grid.ladder, [&](const Titled& scheme, double rate) {
      const std::string run = run_name(stack.name, scheme.name, rate, grid.searching.front());
      return std::vector<double>{results.number(run, "loss")};
    });
    if (baselines) chart.references = {{.at = baselines->bigram, .label = "bigram"}};
    return chart;
  }));
}

/// The judged designs, with failed and surviving runs apart.
kit::Table judged_table(const std::vector<Found>& all, const Grid& grid, const Baselines& baselines) {
  kit::Table table{
      .caption = "The chosen designs on the judging seeds",
      .header = {"Stack", "Initial weights", "", "Rate", "Failed", "95% interval", "Loss of the others"}};
  for (const Found& found : all)
    for (const std::size_t scheme : found.judged()) {
      const Survival survival = survival_of(finite(found.losses(scheme)), baselines.context_free);
      if (survival.runs == 0) continue;
      table.rows.push_back(
          {found.stack().title, weight_scheme(grid.schemes[scheme]).title,
           scheme == *found.best() ? "its best" : "", number_text(found.rate(scheme)),
           fmt::format("{} of {}", survival.failed, survival.runs),
           fmt::format("{} to {}", number_text(survival.share.low, 2), number_text(survival.share.high, 2)),
           mean_and_range(survival.surviving, 4)});
    }
  return table;
}

/// What each stack ends above the one it is compared with.
kit::BarChart differences_chart(const Figures& all) {
  kit::BarChart chart{.title = "Each at its best, minus the stack it is compared with",
                      .value_label = "final loss (nats per character)",
                      .decimals = 3};
  kit::BarSeries bars{.name = "mean over seeds, lines from the lowest to the highest"};
  const auto add = [&](const std::string& title, const std::string& id) {
    const std::vector<double> values = figure_of(all, id);
    if (values.empty()) return;
    chart.categories.push_back(title);
    add_bar(bars, values);
  };
  add("RMSNorm, for LayerNorm in Pre-LN", "rms.pre");
  add("RMSNorm, for LayerNorm in Post-LN", "rms.post");
  for (const blocks::Mistake& mistake : blocks::mistakes())
    add(mistake.title + (mistake.meant == "pre" ? ", for Pre-LN" : ", for Post-LN"), mistake.measure);
  if (!chart.categories.empty()) chart.series.push_back(std::move(bars));
  return chart;
}

void add_differences(Page& page, const Figures& all) {
  page.figure("differences", differences_chart(all),
              "Bars to the right are worse than the stack that was intended. Seeds on which a run failed are "
              "left out.");
  if (const std::vector<double> removed = figure_of(all, "removed"); !removed.empty())
    page.html.paragraph(
        fmt::format("If the final norm is removed from a trained Pre-LN stack, its loss rises "
                    "by {} nats.",
                    mean_and_range(removed)));
}

void add_spreads(Page& page, const std::vector<Found>& all, const Grid& grid, const Baselines& baselines) {
  kit::Table table{.caption = "Largest minus smallest loss over the kinds of initial weights, seed by seed",
                   .header = {"Stack", "Without failed runs", "Seeds"}};
  for (const Found& found : all) {
    if (!found.stack().each_scheme || !found.best()) continue;
    const std::vector<double> spread =
        finite(spread_of_schemes(found, grid.schemes.size(), baselines.context_free));
    table.rows.push_back({found.stack().title, mean_and_range(spread), std::to_string(spread.size())});
  }
  if (!table.rows.empty()) page.html.table(table);
}

/// The losses that the referee compares with.
void add_controls(Page& page, const Found& pre, const Grid& grid) {
  if (!pre.best()) return;
  page.html.table(
      {.caption = "The best Pre-LN in other numbers of steps",
       .header = {"Steps", "Loss"},
       .rows = {{std::to_string(grid.shorter()), mean_and_range(pre.losses_of(kShorter, grid.judging), 4)},
                {std::to_string(grid.steps), mean_and_range(pre.losses(*pre.best()), 4)},
                {std::to_string(grid.longer()), mean_and_range(pre.losses_of(kLonger, grid.floor), 4)}}});
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const std::vector<Found> all = all_found(results, grid);
  add_setting(page, results, grid);
  page.html.heading("The searches");
  page.html.table(search_table(all, grid));
  page.figure("rates", loss_by_rate(results, grid),
              "Single runs. Higher and lower rates follow where the best is at an edge.");
  page.html.heading("Results on the judging seeds");
  if (const std::optional<Baselines> baselines = baselines_of(results)) {
    if (const kit::Table judged = judged_table(all, grid, *baselines); !judged.rows.empty())
      page.html.table(judged);
    add_differences(page, figures(results));
    add_spreads(page, all, grid, *baselines);
    add_controls(page, Found(results, grid, stack_named("pre")), grid);
  }
  page.limits(
      {"**Training without warm-up.** All runs have the same warm-up. Without one Post-LN, and every block "
       "like it, does worse: see the studies `text` and `rates`.",
       "**The best of all settings.** On the first searching seed all rates but two are dropped for each "
       "kind "
       "of initial weights. The search compares means that include failed runs.",
       "**Deep models and long trainings.** A block that is as good here may fail when it is deeper, and a "
       "norm may matter more where logits have 50,000 entries.",
       "**Every kind of initial weights.** Four kinds, embeddings N(0, 1/d) in all of them, and a head that "
       "is the token embedding.",
       "**Seeds that fail.** Differences are those of the surviving runs; they do not say what a failed run "
       "would have ended at.",
       "**The headroom.** Its floor is what a training of four times the length reaches, not the entropy of "
       "the text: the true headroom is larger."});
}

}  // namespace gradus::lab::text_variants
