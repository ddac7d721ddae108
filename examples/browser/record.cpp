// The lab's verdict on finished sessions: each is one seed of a lab with one depth, rate and warm-up.

#include <algorithm>

#include "browser/session.h"
#include "gradus/core/check.h"
#include "lab/studies/compare/analysis/verdict.h"

namespace gradus::browser {

namespace {

/// Whether they differ only in the seed.
bool one_lab(Settings a, const Settings& b) {
  a.seed = b.seed;
  return a == b;
}

}  // namespace

lab::compare::TaskFacts facts() { return lab::compare::facts_of(lab::recall_task()); }

lab::compare::Baseline baseline() { return lab::compare::baseline_of(facts()); }

void Record::add(const Session& session) {
  check(session.done(), "Record: the session has steps left to make");
  const Settings& settings = session.settings();
  std::erase_if(entries_, [&](const Entry& entry) { return entry.settings == settings; });
  const auto& [first, second] = session.models();
  entries_.push_back({settings, {first.record(settings), second.record(settings)}});
}

const std::array<lab::compare::RunRecord, 2>* Record::runs(const Settings& settings) const {
  for (const Entry& entry : entries_)
    if (entry.settings == settings) return &entry.runs;
  return nullptr;
}

std::int64_t Record::seeds(const Settings& settings) const {
  return std::count_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return one_lab(entry.settings, settings); });
}

std::string Record::verdict(const Settings& settings) const {
  lab::compare::Settings grid;
  grid.placements = {nn::placement_named(settings.placements[0]),
                     nn::placement_named(settings.placements[1])};
  grid.depths = {settings.layers};
  grid.lrs = {settings.rate};
  grid.warmups = {settings.warmup};
  grid.steps = settings.steps;
  std::int64_t least = settings.seed, most = settings.seed;
  lab::compare::Results results;
  for (const Entry& entry : entries_) {
    if (!one_lab(entry.settings, settings)) continue;
    const std::int64_t seed = entry.settings.seed;
    const bool first = results.runs.empty();
    least = first ? seed : std::min(least, seed), most = first ? seed : std::max(most, seed);
    for (const lab::compare::RunRecord& run : entry.runs) results.runs.push_back(run);
  }
  grid.seed = static_cast<std::uint64_t>(least);
  grid.seeds = most - least + 1;  // seeds in between may be missing
  results.settings = grid;
  results.task = facts();
  return lab::compare::verdict_of(lab::compare::analyse(results), std::nullopt).sentence;
}

}  // namespace gradus::browser
