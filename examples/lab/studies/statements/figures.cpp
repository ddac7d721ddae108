// One number per judging seed, or per group of them, for each statement, and the referee's objections.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/search.h"
#include "lab/studies/statements/statements.h"

namespace gradus::lab::statements {

namespace {

using Values = std::vector<double>;

/// The runs of an arm that a figure compares.
struct Part {
  const Found* found;
  Early early = Early::warm_up;
};
using Parts = std::vector<Part>;
using Failures = std::optional<Objection> (*)(std::size_t left, std::size_t all);

std::string title_of(const Part& part) {
  return part.found->arm().title() +
         (part.early == Early::warm_up ? "" : fmt::format(", {} early rate", name_of(part.early)));
}

/// As failed_runs(), of groups of seeds.
std::optional<Objection> failed_groups(std::size_t left, std::size_t groups) {
  std::optional<Objection> objection = failed_runs(left, groups);
  if (objection)
    objection->why =
        fmt::format("failed runs leave fewer than {} in {} of {} groups", kLeastPairs, groups - left, groups);
  return objection;
}

/// A figure without the seeds, or groups, on which it is NaN because runs failed, out of so many that have
/// finished. Of several objections the first counts.
void add(Figures& all, const std::string& id, const Values& values, std::size_t finished, const Parts& parts,
         const Failures& failures = failed_runs) {
  if (finished == 0) return;
  for (const Part& part : parts)
    all.object(id, trains_nowhere(finite(part.found->losses(part.early)),
                                  learned_loss(part.found->arm().chain), title_of(part)));
  const Values kept = finite(values);
  for (const double value : kept) all[id].push_back(value);
  all.object(id, failures(kept.size(), finished));
  for (const Part& part : parts)
    all.object(id, end_of_search(part.found->searched().at_edge, part.found->arm().title()));
}

/// The distance of the best part's surviving runs to the entropy, over `unit` of its language.
void limit_by_headroom(Figures& all, const std::string& id, const Parts& parts,
                       const std::function<double(std::int64_t chain)>& unit = {}) {
  for (const Part& part : parts) {
    const Values losses = finite(part.found->surviving(part.early));
    if (losses.empty()) continue;
    const std::int64_t chain = part.found->arm().chain;
    const double above = (mean(losses) - task(chain).entropy().value()) / (unit ? unit(chain) : 1);
    const auto [known, is_new] = all.headroom.emplace(id, above);
    if (!is_new) known->second = std::min(known->second, above);
  }
}

Values shortened(Values values, std::size_t count) {
  values.resize(std::min(values.size(), count));
  return values;
}

/// a - b of the seeds that both have, without those on which a run failed.
void add_difference(Figures& all, const std::string& id, const Part& a, const Part& b) {
  const auto difference = [&](Values x, const Values& y) {
    x.resize(std::min(x.size(), y.size()));
    return minus(std::move(x), y);
  };
  const Values raw = difference(a.found->losses(a.early), b.found->losses(b.early));
  add(all, id, difference(a.found->surviving(a.early), b.found->surviving(b.early)), finite(raw).size(),
      {a, b});
  limit_by_headroom(all, id, {a, b});
}

/// Where the FFN's norm is.
void add_places(Figures& all, const Arms& arms, std::int64_t layers) {
  const Part before{&arms.of("pre", layers)}, hidden{&arms.of("hidden", layers)},
      bare{&arms.of("bare", layers)};
  add_difference(all, fmt::format("helps.L{}", layers), bare, hidden);
  add_difference(all, fmt::format("place.L{}", layers), before, hidden);
}

/// 1 where Pre-LN is the better of the two on the searching seeds, else -1; 0 before the searches have ended.
double better_side(const Arms& arms, std::int64_t layers, std::int64_t chain) {
  const Searched& pre = arms.of("pre", layers, chain).searched();
  const Searched& post = arms.of("post", layers, chain).searched();
  if (!pre.chosen || !post.chosen) return 0;
  return pre.mean <= post.mean ? 1 : -1;
}

/// What the better of both leaves: its surviving runs' distance to the entropy (nats). NaN without any.
double left_by_better(const Arms& arms, std::int64_t layers, std::int64_t chain) {
  const bool pre = better_side(arms, layers, chain) > 0;
  return mean(finite(arms.of(pre ? "pre" : "post", layers, chain).surviving())) -
         task(chain).entropy().value();
}

/// How much more the placement matters on a level than on the one below. The better side of a level is that
/// of the searching seeds: a gap whose sign its own noise chooses would look larger than it is.
void add_difficulty(Figures& all, const Arms& arms, std::int64_t layers, std::int64_t chain) {
  Parts parts;
  Values more, more_left;
  std::vector<double> finished;
  for (const std::int64_t level : {chain, chain - 1}) {
    const Part pre{&arms.of("pre", layers, level)}, post{&arms.of("post", layers, level)};
    parts.push_back(pre), parts.push_back(post);
    const double side = better_side(arms, layers, level) * (level == chain ? 1 : -1);
    const double of_left = side * learnable(level) / left_by_better(arms, layers, level);
    const Values gaps = relative_gap(arms, layers, level),
                 ends = minus(post.found->losses(), pre.found->losses());
    more.resize(gaps.size()), more_left.resize(gaps.size()), finished.resize(gaps.size());
    for (std::size_t s = 0; s < gaps.size(); ++s) {
      more[s] += side * gaps[s];
      more_left[s] += of_left * gaps[s];
      finished[s] += ends[s];  // NaN where a run of either level has not finished
    }
  }
  const std::size_t count = finite(finished).size();
  const std::string id = fmt::format("harder.L{}.c{}", layers, chain);
  add(all, id, more, count, parts);
  limit_by_headroom(all, id, parts, learnable);
  add(all, fmt::format("harder-left.L{}.c{}", layers, chain), more_left, count, parts);
}

/// Early stability against the end, among runs of one setting.
void add_stability(Figures& all, const Arms& arms, const Grid& grid, const char* block) {
  const Found& found = arms.of(block, grid.depths.front());
  for (const Early early : {Early::level, Early::large}) {
    const Values losses = found.losses(early), ends = found.surviving(early);
    for (const char* name : {"spike", "early"}) {
      const Values each = group_correlations(found.numbers(early, name), ends, losses, grid.group);
      add(all, fmt::format("{}.{}.{}", name, block, name_of(early)), each, each.size(), {{&found, early}},
          failed_groups);
    }
  }
  if (grid.depths.size() < 2) return;
  const Found& deep = arms.of(block, grid.depths.back());
  const Values ends = deep.surviving(Early::level);
  const Values gains = minus(shortened(found.surviving(Early::level), ends.size()), ends);
  const Values finished =
      minus(shortened(found.losses(Early::level), ends.size()), deep.losses(Early::level));
  const Values each = group_correlations(deep.numbers(Early::level, "spike"), gains, finished, grid.group);
  add(all, fmt::format("gain.{}", block), each, each.size(), {{&found, Early::level}, {&deep, Early::level}},
      failed_groups);
}

/// A large rate early against others before the same schedule.
void add_exploration(Figures& all, const Arms& arms, const Grid& grid, const char* block) {
  const Found& found = arms.of(block, grid.depths.front());
  for (const Early early : {Early::warm_up, Early::small, Early::level})
    add_difference(all, fmt::format("explores.{}.{}", block, name_of(early)), {&found, early},
                   {&found, Early::large});
}

}  // namespace

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const Arms arms(results, grid);
  Figures all;
  for (const std::int64_t layers : grid.depths) {
    add_places(all, arms, layers);
    for (std::size_t level = 1; level < kChains.size(); ++level)
      add_difficulty(all, arms, layers, kChains[level]);
  }
  for (const char* block : {"pre", "post"}) {
    add_stability(all, arms, grid, block);
    add_exploration(all, arms, grid, block);
  }
  return all;
}

}  // namespace gradus::lab::statements
