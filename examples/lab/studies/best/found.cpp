// The results of the searches of the study `best`.

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/statistics/outcomes.h"
#include "lab/studies/best/best.h"

namespace gradus::lab::best {

namespace {

constexpr RecallOptions kLanguage = {.boxes = 10, .things = 5, .length = 32, .chain = 2};

Halving halving_of(const Grid& grid) {
  return {.families = grid.schemes.size(),
          .ladder = grid.ladder,
          .first = grid.first,
          .last = grid.last,
          .seeds = grid.searching,
          .kept = grid.kept};
}

bool more_than_half_train(const std::vector<double>& losses) {
  return 2 * std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); }) >
         std::ssize(losses);
}

bool any_open(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

const Task& task() {
  static const Task language{kLanguage};
  return language;
}

double learned_loss() { return task().ngram().loss; }

double target_loss() { return (learned_loss() + task().entropy().value()) / 2; }

std::vector<double> without_failed(const std::vector<double>& losses) {
  return lab::without_failed(losses, task().context_free_loss());
}

Found::Found(const StudyResults& results, const Grid& grid, const Arm& arm)
    : results_(results), grid_(grid), arm_(arm) {
  for (std::size_t warmup = 0; warmup < searched_.size(); ++warmup)
    searched_[warmup] =
        search(halving_of(grid), [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
          const std::string run = run_name(arm, design(warmup, setting), seed);
          return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
        });
}

Design Found::design(std::size_t warmup, const Setting& setting) const {
  return {grid_.schemes[setting.family], grid_.warmups[warmup], grid_.ladder[setting.rate]};
}

std::optional<Design> Found::chosen(std::size_t warmup) const {
  const std::optional<Setting>& setting = searched_[warmup].chosen;
  return setting ? std::optional(design(warmup, *setting)) : std::nullopt;
}

std::optional<std::size_t> Found::best() const {
  if (!searched_[0].chosen || !searched_[1].chosen) return std::nullopt;
  return searched_[1].mean < searched_[0].mean ? 1 : 0;
}

bool Found::best_at_edge() const { return best() && searched_[*best()].at_edge; }
bool Found::any_at_edge() const { return searched_[0].at_edge || searched_[1].at_edge; }

std::vector<double> Found::sweep() const {
  if (!best() || arm_.layers > grid_.deepest_sweep) return {};
  Design design = *chosen(*best());
  std::vector<double> rates(grid_.ladder.begin() + static_cast<std::ptrdiff_t>(grid_.first),
                            grid_.ladder.begin() + static_cast<std::ptrdiff_t>(grid_.last) + 1);
  for (std::size_t rung = grid_.last + 1; rung < grid_.ladder.size(); ++rung) {
    design.lr = rates.back();
    const std::vector<double> losses = numbers(design, "loss");
    if (any_open(losses) || !more_than_half_train(losses)) break;
    rates.push_back(grid_.ladder[rung]);
  }
  return rates;
}

bool Found::sweep_at_edge() const {
  const std::vector<double> rates = sweep();
  if (rates.empty() || rates.back() < grid_.ladder.back()) return false;
  Design design = *chosen(*best());
  design.lr = rates.back();
  return more_than_half_train(numbers(design, "loss"));
}

std::vector<Design> Found::judged() const {
  if (!best()) return {};
  std::vector<Design> designs = {*chosen(0), *chosen(1)};
  for (const double lr : sweep()) {
    const Design swept = {chosen(*best())->scheme, chosen(*best())->warmup, lr};
    if (std::find(designs.begin(), designs.end(), swept) == designs.end()) designs.push_back(swept);
  }
  return designs;
}

std::vector<double> Found::numbers(const Design& design, const std::string& name) const {
  std::vector<double> all;
  for (const std::uint64_t seed : grid_.judging)
    all.push_back(results_.number(run_name(arm_, design, seed), name));
  return all;
}

std::vector<double> Found::losses(std::size_t warmup) const {
  if (const std::optional<Design> design = chosen(warmup)) return numbers(*design, "loss");
  return std::vector<double>(grid_.judging.size(), std::numeric_limits<double>::quiet_NaN());
}

std::vector<double> Found::best_losses() const { return losses(best().value_or(0)); }

std::vector<std::vector<double>> Found::swept(const std::string& name) const {
  std::vector<std::vector<double>> all;
  for (const double lr : sweep())
    all.push_back(numbers({chosen(*best())->scheme, chosen(*best())->warmup, lr}, name));
  return all;
}

}  // namespace gradus::lab::best
