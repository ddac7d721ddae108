#pragma once
// The best of several settings without flattering it: no seed chooses the setting it is judged at.

#include <cstddef>
#include <optional>
#include <vector>

namespace gradus::lab {

/// values[setting][seed], small ones good, NaN where a run has not finished. For each seed the setting with
/// the least mean over the *other* seeds (over itself where there is no other): the least of several noisy
/// numbers looks better than it is, and more so the more there are. Nothing for a seed that is not complete.
std::vector<std::optional<std::size_t>> best_of_others(const std::vector<std::vector<double>>& values);

/// values[chosen[seed]][seed]; NaN where nothing was chosen.
std::vector<double> at_chosen(const std::vector<std::vector<double>>& values,
                              const std::vector<std::optional<std::size_t>>& chosen);

/// The values at what best_of_others() chooses, in the order of the seeds.
std::vector<double> left_out_best(const std::vector<std::vector<double>>& values);

/// a - b, seed by seed; seeds at which either is NaN are left out.
std::vector<double> paired_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace gradus::lab
