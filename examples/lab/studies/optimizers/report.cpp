// The page of the study `optimizers`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "lab/statistics/statistics.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/optimizers/stable.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

using kit::fixed_text;
using kit::number_text;

std::vector<double> of(const Figures& figures, const std::string& id) {
  const auto found = figures.find(id);
  return found == figures.end() ? std::vector<double>{} : found->second;
}

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The setting");
  page.html.key_values(
      "Settings of all runs",
      {{"model", fmt::format("GPT, {} layers, d_model 32, 4 heads, N(0, 1/fan_in)", grid.layers)},
       {"task", "recall language, 32 characters, vocabulary 29"},
       {"steps", fmt::format("{}, batch 8 where no other is named", grid.steps)},
       {"warm-up", fmt::format("none, or linear over {} steps; then constant; no clipping", grid.warmup)},
       {"rates", fmt::format("{} for each, half a decade apart, without and with warm-up", grid.rates)},
       {"seeds", std::to_string(grid.seeds.size())}});
  kit::Table table{"The rates tried", {"Optimizer", "Lowest", "Highest", "Tries for each placement"}, {}};
  for (const Variant* variant : grid.variants) {
    const std::vector<double> lrs = grid.lrs(*variant);
    table.rows.push_back(
        {variant->title, number_text(lrs.front()), number_text(lrs.back()), std::to_string(2 * lrs.size())});
  }
  page.html.table(table);
  page.html.paragraph(
      fmt::format("A run **trained** when its validation loss ended below {}, that of the best n-gram; one "
                  "that diverged counts with its loss at the start. \u201CSecond moment first\u201D is Adam "
                  "that only averages squared gradients for 50 steps before its first update, at rate 0, as "
                  "Adam-2k of Liu et al. 2020 (arXiv:1908.03265) does for 2000: if warm-up is needed because "
                  "of the noise of that average, it has no effect left there.",
                  fixed_text(learned_loss(), 3)));
}

/// The variants for which warm-up gained on all seeds, and those for which it did not.
std::string describe_gains(const StudyResults& results, const Grid& grid) {
  std::vector<std::string> all, some;
  for (const Variant* variant : grid.variants) {
    const Difference gain = difference_of(gains(results, *variant, 1));
    if (gain.count == 0) continue;
    (gain.up == gain.count ? all : some).push_back(variant->title);
  }
  if (all.empty() && some.empty()) return "Not enough runs have finished to say.";
  std::string text;
  if (!all.empty())
    text = fmt::format("On every seed, Post-LN ends lower with warm-up in these settings: {}. ",
                       fmt::join(all, "; "));
  if (!some.empty()) text += fmt::format("Not on every seed in these: {}. ", fmt::join(some, "; "));
  return text;
}

void add_warmup(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("Warm-up by optimizer");
  page.figure("gain", gain_chart(results),
              describe_gains(results, grid) +
                  "Bars are means; lines range from the lowest to the highest seed. The same number of rates "
                  "was tried with and without warm-up.");
  page.figure("more_rates", more_rates_chart(results),
              "Warm-up may gain little at the best rate and still make higher rates usable: this chart "
              "counts the additional rates at which the model trains.");
  struct Column {
    std::string name;
    std::vector<double> (*values)(const StudyResults&, const Variant&, std::size_t);
    std::size_t placement;
  };
  const std::vector<Column> columns = {{"Pre-LN, gain (nats)", gains, 0},
                                       {"Post-LN, gain (nats)", gains, 1},
                                       {"Pre-LN, more rates", more_rates, 0},
                                       {"Post-LN, more rates", more_rates, 1}};
  page.html.table(cross_table("Warm-up by optimizer: mean (lowest to highest seed)", "", grid.variants,
                              columns, [&](const Variant* variant, const Column& column) {
                                return mean_and_range(column.values(results, *variant, column.placement));
                              }));
}

void add_groups(Page& page, const StudyResults& results, const Grid& grid, const Figures& figures) {
  page.html.heading("Sensitivity to the optimizer");
  const std::map<std::string, std::string> titles = {
      {"optimizer", "The optimizer"}, {"beta2", "Adam's beta2"}, {"batch", "The batch size"}};
  for (const std::string& group : kGroups) {
    if (grid.members(group).size() < 2) continue;
    const Difference trained = difference_of(of(figures, "trained." + group));
    const std::string words =
        trained.count == 0            ? "Not enough runs have finished to say."
        : trained.up == trained.count ? "On every seed Pre-LN trains at a larger share of the settings."
        : trained.down == trained.count
            ? "On every seed Post-LN trains at a larger share of the settings."
            : fmt::format("Pre-LN trains at a larger share of the settings on {} of {} seeds.", trained.up,
                          trained.count);
    page.figure("loss_" + group, loss_by_rate(results, group),
                fmt::format("{} varies. {} Share of settings that trained, Pre-LN minus Post-LN: {}; range "
                            "of the best losses over the variants, Post-LN minus Pre-LN: {} nats.",
                            titles.at(group), words, mean_and_range(of(figures, "trained." + group)),
                            mean_and_range(of(figures, "range." + group))));
  }
}

std::string describe_change(const std::vector<double>& values, const std::string& up,
                            const std::string& down) {
  const Difference change = difference_of(values);
  if (change.count == 0) return "\u2013";
  return fmt::format("{} ({})", mean_and_range(values),
                     change.up == change.count     ? up + " on all seeds"
                     : change.down == change.count ? down + " on all seeds"
                                                   : "seeds disagree");
}

/// How the runs so far made their products with the Hessian.
std::string describe_products(const StudyResults& results, const Grid& grid) {
  std::size_t finished = 0, differences = 0;
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements)
      for (const bool warm : {false, true})
        for (const std::uint64_t seed : grid.seeds) {
          const auto run = results.records.find(Curve{optimizer, placement, warm, seed}.name());
          if (run == results.records.end()) continue;
          ++finished;
          if (!run->second.measured.texts.contains("products")) ++differences;
        }
  if (differences == 0) return fmt::format("{} exact Hessian-vector products", kProducts);
  return fmt::format("{} Hessian-vector products, in {} of {} runs by central differences of gradients",
                     kProducts, differences, finished);
}

void add_curvature(Page& page, const StudyResults& results, const Grid& grid, const Figures& figures) {
  page.html.heading("Curvature along training");
  page.figure(
      "sharpness", sharpness_chart(results),
      fmt::format("The largest eigenvalue of the Hessian on a fixed batch of 8 lines, in f64, by the Lanczos "
                  "method with {}; Adam at rate {}, momentum SGD at {}. Above a line marked "
                  "\u201Cstable below\u201D, steps at that rate overshoot on a quadratic. {}",
                  describe_products(results, grid), number_text(curve_rate("adam")),
                  number_text(curve_rate("momentum")), describe_bands(grid.seeds.size())));
  kit::Table table{"Change of the curvature: mean (lowest to highest seed), in doublings (log2)",
                   {"", "Start over the end of warm-up", "At the end of warm-up, without it over with it"},
                   {}};
  for (const std::string& optimizer : grid.curve_optimizers)
    for (const std::size_t placement : grid.curve_placements) {
      const std::string where = fmt::format("{}.{}", optimizer, word_of(placement));
      table.rows.push_back({fmt::format("{}, {}", optimizer, kPlacements[placement]),
                            describe_change(of(figures, "fall." + where), "falls", "rises"),
                            describe_change(of(figures, "gap." + where), "higher without", "lower without")});
    }
  page.html.table(table);
  page.html.paragraph(
      fmt::format("A run that diverged before has no curvature there and counts as higher than any ({} "
                  "doublings); where both did, the seed is left out. The second column leaves out seeds on "
                  "which a run failed, that is, ended at {} or above, the loss of predicting without "
                  "context: such a run is flat. The ledger counts seeds, for momentum SGD only. Adam's rows "
                  "are descriptive: the plain Hessian does not bound its rate.",
                  number_text(kDivergedDoublings), fixed_text(recall_task().context_free_loss(), 3)));
}

void add_limits(Page& page) {
  page.limits(
      {"**Other sizes.** One depth and width, short lines, few steps; study `rates` has Adam at other "
       "depths.",
       "**The best settings of an optimizer.** Only the rate and warm-up are searched; betas, decay and "
       "batch are varied one at a time, from Adam's defaults.",
       "**Stability for Adam.** The plain Hessian's sharpness does not bound Adam's rate; the Hessian scaled "
       "by Adam's own steps would (Cohen et al. 2022, arXiv:2207.14484).",
       "**Cause.** That curvature falls while the rate rises fits an explanation and does not prove it. The "
       "fixed rates of the curves were chosen, on other seeds, so that Post-LN trains with warm-up and does "
       "not without; the largest stable rates follow from a search, a quarter of a decade apart."});
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_setting(page, grid);
  const Figures all = figures(results);
  add_warmup(page, results, grid);
  add_groups(page, results, grid, all);
  add_curvature(page, results, grid, all);
  report_stable(page, results);
  add_limits(page);
}

}  // namespace gradus::lab::optimizers
