// The part of the page of `update-size` on Post-LN's largest stable rate.

#include <fmt/format.h>

#include "lab/statistics/outcomes.h"
#include "lab/studies/update_size/stable.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/training/trial.h"

namespace gradus::lab::update_size {

namespace {

struct JudgedAt {
  std::string placement;
  double lr = 0;
};

std::vector<std::string> row_of(const StudyResults& results, const StableGrid& grid, const JudgedAt& judged) {
  const auto numbers = [&](const char* number) {
    return judged_numbers(results, grid, judged.placement, judged.lr, number);
  };
  const std::vector<double> losses = finite(numbers("loss"));
  const Survival survival = survival_of(losses, recall_task().context_free_loss());
  std::vector<double> updates = numbers("update");
  for (std::size_t s = 0; s < updates.size(); ++s)
    if (!survives(numbers("loss")[s])) updates[s] = kit::nothing;
  return {judged.placement,
          kit::number_text(judged.lr),
          fmt::format("{} of {}", survival.failed, survival.runs),
          mean_and_range(survival.surviving),
          mean_and_range(updates),
          mean_and_range(numbers("gradient"))};
}

}  // namespace

void report_stable(Page& page, const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  const Climbed climbed = climb_of(results, grid);
  page.html.heading("Updates of runs that survive");
  page.html.paragraph(fmt::format(
      "{} layers, {} steps of Adam without warm-up. All searching seeds ({}) try the rates from {} up, a "
      "quarter of a decade apart, with Post-LN, until more than half of them fail, that is, end at the loss "
      "of predicting without context or above. Other seeds ({}) compare Post-LN at the largest rate at which "
      "none failed with DeepNorm and Admin at the rate at which Post-LN fails. If the size of updates breaks "
      "Post-LN, those train there, with updates no larger than Post-LN survives; if gradients do not, theirs "
      "are as large as Post-LN's.",
      grid.layers, grid.steps, grid.searching.size(), kit::number_text(grid.ladder.front()),
      grid.judging.size()));
  if (!climbed.ended) return page.html.paragraph("The search has not ended.");
  if (!climbed.stable || !climbed.failing)
    return page.html.paragraph("The search ended at the edge of its rates: nothing is compared.");
  const double stable = grid.ladder[*climbed.stable], failing = grid.ladder[*climbed.failing];
  kit::Table table{.caption = "On the judging seeds: mean (lowest to highest)",
                   .header = {"", "Rate", "Failed", "Final loss, surviving",
                              "Largest of the first 20 updates, surviving", "First gradient"}};
  std::vector<JudgedAt> rows = {{"Post-LN", stable}, {"Post-LN", failing}};
  for (const char* control : kControls) rows.push_back({control, failing});
  for (const JudgedAt& judged : rows)
    if (!finite(judged_numbers(results, grid, judged.placement, judged.lr, "loss")).empty())
      table.rows.push_back(row_of(results, grid, judged));
  if (!table.rows.empty()) page.html.table(table);
}

}  // namespace gradus::lab::update_size
