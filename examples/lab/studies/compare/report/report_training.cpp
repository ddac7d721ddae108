// The report's sections on training and ablations.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/report/charts.h"
#include "lab/studies/compare/report/report.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

using kit::fixed_text;
using kit::number_text;

std::string reference_lines(const Analysis& analysis) {
  if (analysis.task.entropy)
    return fmt::format("Dotted: {} above, the entropy below.", analysis.baseline.label());
  return fmt::format("Dotted: {} above, the {}-gram below.", analysis.baseline.label(),
                     analysis.task.ngram.n);
}

std::string steps_text(const std::vector<double>& steps) {
  std::string text;
  for (const double s : steps) text += (text.empty() ? "" : ", ") + (std::isnan(s) ? "–" : number_text(s));
  return text;
}

/// Every setting of the grid with the numbers no chart shows.
kit::Table grid_table(const Analysis& analysis) {
  kit::Table table{
      "All settings. Losses in nats per character, – where no run has finished; steps to the target loss by "
      "seed, – where it was not reached.",
      {"layers", "rate", "warm-up", "placement", "runs", "diverged", "below baseline", "loss", "std", "min",
       "max", "steps"},
      {}};
  for (const Cell& cell : analysis.grid) {
    const RunOptions& run = cell.setting;
    table.rows.push_back({std::to_string(run.layers), number_text(run.lr), std::to_string(run.warmup),
                          run.placement.name, std::to_string(cell.runs.size()), std::to_string(cell.diverged),
                          std::to_string(cell.learned_count()), fixed_text(cell.loss.mean, 4),
                          fixed_text(cell.loss.std, 4), fixed_text(cell.loss.low, 4),
                          fixed_text(cell.loss.high, 4), steps_text(cell.steps)});
  }
  return table;
}

bool any_steps(const Analysis& analysis) {
  for (const Cell& cell : analysis.grid)
    if (std::any_of(cell.steps.begin(), cell.steps.end(), [](double s) { return !std::isnan(s); }))
      return true;
  return false;
}

/// A record of results may omit the curves.
bool has_curves(const Analysis& analysis) {
  return std::any_of(analysis.grid.begin(), analysis.grid.end(),
                     [](const Cell& cell) { return cell.any() && !cell.runs.front().losses.empty(); });
}

void add_curves(Page& page, const Analysis& analysis) {
  for (const std::int64_t warmup : analysis.settings.warmups)
    page.figure(fmt::format("loss_curves_warmup_{}", warmup), loss_curves(analysis, warmup),
                "A row for each depth, a column for each rate. Lines: mean over seeds and over a slice of "
                "steps; bands: from the lowest to the highest seed. " +
                    reference_lines(analysis));
  page.figure("gradient_norms", gradient_norm_panels(analysis, ablation_setting(analysis.settings).lr),
              "Norm of all gradients together: mean and range over seeds, without clipping.");
}

std::string describe_target(const Analysis& analysis) {
  return analysis.task.entropy ? fmt::format("{}, three quarters of the way from {} down to the entropy",
                                             nats(analysis.target), analysis.baseline.label())
                               : fmt::format("{}, that of a 2-gram", nats(analysis.target));
}

/// The change that the ablation makes: "a Pre-LN stack has one after its last block, which is removed here".
std::string describe_final_norm(const nn::Placement& placement) {
  const std::string stack = fmt::format(
      "{} {} stack", std::string("AEIOU").find(placement.name[0]) < 5 ? "an" : "a", placement.name);
  if (placement.leave) return stack + " joins its streams in one, which is kept";
  return stack + (placement.final_norm ? " has one after its last block, which is removed here"
                                       : " has none and gets one here");
}

}  // namespace

void add_training(Page& page, const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  page.html.heading("Training");
  if (analysis.finished == 0) {
    page.html.paragraph("No run has finished yet.");
    return;
  }
  page.figure("loss_by_rate", loss_by_rate(analysis),
              "Points: mean over seeds; bars: from the best to the worst seed. A wide, low valley is best: "
              "it means a model that trains at any sensible rate. " +
                  (analysis.task.entropy ? fmt::format("Dotted: {}.", analysis.baseline.label())
                                         : reference_lines(analysis)));
  if (any_steps(analysis))
    page.figure("steps_to_loss", steps_panels(analysis),
                fmt::format("Steps until the mean of the last {} training losses is at most {}. Mean and "
                            "range over seeds; no point is drawn where a seed never reached it.",
                            kSmoothing, describe_target(analysis)));
  if (has_curves(analysis)) add_curves(page, analysis);
  if (settings.lrs.size() > 1)
    page.figure("sensitivity", sensitivity_panels(analysis),
                "Learning-rate sensitivity (Wortsman et al. 2023, arXiv:2309.14322): the mean over all rates "
                "of min(final loss, loss at the start), minus that of the best rate. 0 would mean a model "
                "that is insensitive to the rate, or one that trains at none: read it together with the "
                "losses. Mean and range over seeds.");
  page.html.folded_table(grid_table(analysis));
}

void add_ablations(Page& page, const Analysis& analysis) {
  const RunOptions setting = ablation_setting(analysis.settings);
  page.html.heading("Ablations");
  page.html.paragraph(fmt::format(
      "Two details are changed, one at a time, with {}, rate {}, {}. **The final norm**: {}; {}. "
      "**Residual init scaling**: the matrices that write to the shortcut start 1/⁠√(2L) times "
      "as large, as in GPT-2.",
      counted(setting.layers, "layer"), number_text(setting.lr), describe_warmup(setting.warmup),
      describe_final_norm(analysis.settings.placements[0]),
      describe_final_norm(analysis.settings.placements[1])));
  kit::Table table{"Final loss in nats per character",
                   {"", "mean", "min", "max", "change", "below baseline", "steps to target"},
                   {}};
  for (const nn::Placement& placement : analysis.settings.placements) {
    const Cell& base = analysis.cell(placement, setting.layers, setting.lr, setting.warmup);
    const auto add_row = [&](const Cell& cell, const std::string& change) {
      const std::string name = fmt::format("{} {}", placement.name, describe_ablation(cell.setting));
      table.rows.push_back(
          {name, fixed_text(cell.loss.mean, 4), fixed_text(cell.loss.low, 4), fixed_text(cell.loss.high, 4),
           change, fmt::format("{} of {}", cell.learned_count(), cell.runs.size()), steps_text(cell.steps)});
    };
    add_row(base, "");
    for (const Cell& cell : analysis.ablations)
      if (cell.setting.placement == placement) add_row(cell, with_range(difference_of(paired(base, cell))));
  }
  if (has_curves(analysis))
    page.figure("ablations", ablation_curves(analysis),
                "Mean and range over seeds. " + reference_lines(analysis));
  page.html.table(table);
}

}  // namespace gradus::lab::compare
