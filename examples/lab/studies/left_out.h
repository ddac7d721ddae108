#pragma once
// The best of several settings without flattering it: no seed chooses the setting it is judged at.

#include <cstddef>
#include <optional>
#include <vector>

namespace gradus::lab {

/// values[setting][seed], small ones good, NaN where a run has not finished. For each seed the setting with
/// the lowest mean over the *other* seeds (over itself if there is no other): the lowest of several noisy
/// numbers looks better than it is, the more so the more there are. Nothing for an incomplete seed.
std::vector<std::optional<std::size_t>> best_of_others(const std::vector<std::vector<double>>& values);

/// values[chosen[seed]][seed]; NaN where nothing was chosen.
std::vector<double> at_chosen(const std::vector<std::vector<double>>& values,
                              const std::vector<std::optional<std::size_t>>& chosen);

/// The values at the choices of best_of_others(), in the order of the seeds.
std::vector<double> left_out_best(const std::vector<std::vector<double>>& values);

/// a - b, seed by seed; seeds at which either is NaN are left out.
std::vector<double> paired_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace gradus::lab
