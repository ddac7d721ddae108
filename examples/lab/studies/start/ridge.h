#pragma once
#include <vector>

namespace gradus::lab {

/// Rows of numbers, all as long as the first.
using Rows = std::vector<std::vector<double>>;

/// R^2 of ridge regression (Hoerl & Kennard 1970), with a constant, from features to one target: fitted on
/// the first `fitted` rows, with features scaled to variance 1 there and `penalty` for each row, measured on
/// the rest. 1: all of the target's variance is predicted; 0 or less: no better than its mean.
double held_out_r2(const Rows& features, const std::vector<double>& target, std::size_t fitted,
                   double penalty = 1e-3);

/// The same for several targets, the mean of their R^2: `held_out_r2(x, {a, b}, 500)`; one solve for all.
double mean_held_out_r2(const Rows& features, const Rows& targets, std::size_t fitted, double penalty = 1e-3);

}  // namespace gradus::lab
