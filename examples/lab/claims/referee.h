#pragma once
// The referee: objections to a verdict, whatever its interval. Each rule is stated here or in judge()
// (ledger.h: too few seeds, a band too wide for the headroom), and a study provides its evidence.
//
//   figures.object("best.L24", end_of_search(found.at_edge, "Post-LN, 24 layers"));

#include <optional>
#include <span>
#include <string>

#include "lab/claims/ledger.h"

namespace gradus::lab {

/// The best rate of an arm is the first or last of its grid, which could not grow: a better one may lie
/// outside.
std::optional<Objection> end_of_search(bool at_edge, const std::string& arm);

/// An arm none of whose runs trains, which means to end below `learned_loss`, says nothing about a trained
/// one. No objection before a run has finished.
std::optional<Objection> trains_nowhere(std::span<const double> losses, double learned_loss,
                                        const std::string& arm);

/// A mean over failed and surviving runs (outcomes.h) is no figure: seeds with a failed run are left out. If
/// no seed is left, there is no figure; fewer than kLeastSeeds decide nothing.
std::optional<Objection> failed_runs(std::size_t left, std::size_t seeds);

/// "It does not learn" needs a control that does so within the same budget, on more than half of its seeds.
std::optional<Objection> no_control(std::int64_t works, std::int64_t seeds, const std::string& control);

/// A target that neither of two arms reached on any seed compares nothing.
std::optional<Objection> never_reached(std::span<const double> a, std::span<const double> b);

/// A ratio of steps needs an arm that reaches the target on all seeds: those on which it does not are the
/// slow ones, so the other seeds' ratios decide nothing. NaN: not reached. No objection before a run has
/// finished.
std::optional<Objection> not_reached(std::span<const double> steps, const std::string& arm);

/// Shares of runs, of `runs` a seed, that differ on no seed have a t interval without width. That decides only
/// what Clopper and Pearson's 95% interval for none of all these runs excludes: differences beyond `least`.
std::optional<Objection> no_difference(std::span<const double> differences, std::int64_t runs, double least);

/// Two arms are compared by what a change does to each, such as leaving out the warm-up. That needs baselines
/// that agree: the smaller is at least 1 - `share` of the larger. NaN, a baseline without runs: no objection.
std::optional<Objection> baselines_differ(double a, double b, double share = 0.1);

}  // namespace gradus::lab
