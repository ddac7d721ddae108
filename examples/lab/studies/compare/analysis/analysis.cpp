#include "lab/studies/compare/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

// The share of the way from the n-gram's loss down to the entropy that a run must cover: it then uses most of
// the information that only looking back can give.
constexpr double kTargetShare = 0.75;

/// On a text file, the loss of counting pairs of characters.
double target_loss(const TaskFacts& task, const Baseline& baseline) {
  if (task.entropy) return baseline.loss - kTargetShare * (baseline.loss - *task.entropy);
  return task.ngram.losses.size() > 1 ? task.ngram.losses[1] : baseline.loss;
}

bool same_setting(const RunOptions& a, const RunOptions& b) {
  return a.placement == b.placement && a.layers == b.layers && a.lr == b.lr && a.warmup == b.warmup &&
         a.final_norm == b.final_norm && a.residual_scaling == b.residual_scaling;
}

bool is_ablation(const RunOptions& run) { return run.final_norm || run.residual_scaling; }

void add_run(Cell& cell, const RunRecord& run, double baseline, double target) {
  cell.runs.push_back(run);
  cell.losses.push_back(std::min(run.final_loss.value_or(run.start_loss), run.start_loss));
  cell.steps.push_back(steps_to(run.losses, target));
  if (run.diverged_at) ++cell.diverged;
  cell.learned.push_back(run.final_loss && *run.final_loss < baseline);
  cell.loss = spread_of(cell.losses);
}

/// One value for each seed that has finished at every rate.
Sensitivity sensitivity_of(const Analysis& analysis, const nn::Placement& placement, std::int64_t layers,
                           std::int64_t warmup) {
  Sensitivity result{placement, layers, warmup, {}, {}, {}};
  const Settings& settings = analysis.settings;
  for (const std::uint64_t seed : analysis.seeds()) {
    std::vector<double> losses;
    for (const double lr : settings.lrs) {
      const Cell& cell = analysis.cell(placement, layers, lr, warmup);
      if (const auto run = cell.run_of(seed)) losses.push_back(cell.losses[*run]);
    }
    if (losses.size() < settings.lrs.size()) continue;
    result.seeds.push_back(seed);
    result.values.push_back(mean(losses) - *std::min_element(losses.begin(), losses.end()));
  }
  result.spread = spread_of(result.values);
  return result;
}

}  // namespace

TaskFacts facts_of(const Task& task) {
  return {.name = task.name(),
          .vocabulary = task.vocabulary().size(),
          .context = task.context(),
          .entropy = task.entropy(),
          .context_free_loss = task.context_free_loss(),
          .ngram = task.ngram()};
}

Baseline baseline_of(const TaskFacts& task) {
  return task.entropy ? Baseline{task.ngram.n, task.ngram.loss} : Baseline{1, task.context_free_loss};
}

std::string Baseline::label() const { return fmt::format("the {}-gram baseline", n); }

std::int64_t Cell::learned_count() const { return std::count(learned.begin(), learned.end(), true); }

std::optional<std::size_t> Cell::run_of(std::uint64_t seed) const {
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].options.seed == seed) return i;
  return std::nullopt;
}

const Cell& Analysis::cell(const nn::Placement& placement, std::int64_t layers, double lr,
                           std::int64_t warmup) const {
  const RunOptions wanted{.placement = placement, .layers = layers, .lr = lr, .warmup = warmup};
  for (const Cell& cell : grid)
    if (same_setting(cell.setting, wanted)) return cell;
  fail_with("lab: the grid has no setting {}", wanted.name());
}

const Sensitivity& Analysis::sensitivity(const nn::Placement& placement, std::int64_t layers,
                                         std::int64_t warmup) const {
  for (const Sensitivity& one : sensitivities)
    if (one.placement == placement && one.layers == layers && one.warmup == warmup) return one;
  fail_with("lab: the grid has no depth {} with warm-up {}", layers, warmup);
}

std::vector<std::uint64_t> Analysis::seeds() const {
  std::vector<std::uint64_t> all;
  for (std::int64_t i = 0; i < settings.seeds; ++i)
    all.push_back(settings.seed + static_cast<std::uint64_t>(i));
  return all;
}

std::optional<Best> Analysis::best(const nn::Placement& placement, std::int64_t layers,
                                   std::uint64_t seed) const {
  std::optional<Best> best;
  for (const Cell& cell : grid) {
    if (cell.setting.placement != placement || cell.setting.layers != layers) continue;
    const auto run = cell.run_of(seed);
    if (!run) return std::nullopt;
    const double loss = cell.losses[*run], lr = cell.setting.lr;
    const bool inside = lr > settings.lrs.front() && lr < settings.lrs.back();
    if (!best || loss < best->loss || (loss == best->loss && inside)) best = Best{loss, lr};
  }
  return best;
}

Analysis analyse(const Results& results) {
  Analysis analysis;
  analysis.task = results.task;
  analysis.settings = results.settings;
  analysis.baseline = baseline_of(analysis.task);
  analysis.target = target_loss(analysis.task, analysis.baseline);
  const std::vector<RunOptions> plan = plan_runs(analysis.settings);
  analysis.planned = plan.size();
  analysis.finished = results.runs.size();
  for (const RunOptions& run : plan) {
    std::vector<Cell>& cells = is_ablation(run) ? analysis.ablations : analysis.grid;
    if (cells.empty() || !same_setting(cells.back().setting, run)) {
      cells.emplace_back();
      cells.back().setting = run;
    }
  }
  for (const RunRecord& run : results.runs)
    for (Cell& cell : is_ablation(run.options) ? analysis.ablations : analysis.grid)
      if (same_setting(cell.setting, run.options))
        add_run(cell, run, analysis.baseline.loss, analysis.target);
  for (const std::int64_t layers : analysis.settings.depths)
    for (const std::int64_t warmup : analysis.settings.warmups)
      for (const nn::Placement& placement : analysis.settings.placements)
        analysis.sensitivities.push_back(sensitivity_of(analysis, placement, layers, warmup));
  return analysis;
}

std::vector<double> paired(const Cell& a, const Cell& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.runs.size(); ++i)
    if (const auto j = b.run_of(a.runs[i].options.seed)) differences.push_back(b.losses[*j] - a.losses[i]);
  return differences;
}

std::vector<double> paired(const Sensitivity& a, const Sensitivity& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.seeds.size(); ++i)
    for (std::size_t j = 0; j < b.seeds.size(); ++j)
      if (a.seeds[i] == b.seeds[j]) differences.push_back(b.values[j] - a.values[i]);
  return differences;
}

}  // namespace gradus::lab::compare
