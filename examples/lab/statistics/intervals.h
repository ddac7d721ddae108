#pragma once
// Intervals for what a few seeds show, each with its name: a figure without one is an anecdote.

#include <cstdint>
#include <span>
#include <vector>

namespace gradus::lab {

struct Interval {
  double low = 0, high = 0;
};

/// Student's t interval for the mean (Student 1908): mean -+ t s / sqrt(n), with n - 1 degrees of freedom.
/// Exact for normally distributed values, good for means of values that are roughly normal; not for losses of
/// runs that either learn or fail. Unbounded for fewer than two values. `t_interval(differences, 0.95)`
Interval t_interval(std::span<const double> values, double level);

/// The bootstrap percentile interval (Efron 1979): the mean of 10,000 samples drawn from the values with
/// replacement, and the middle `level` of these means. Does not assume a normal distribution; with fewer than
/// about ten values it is too narrow. Draws from a separate generator, so the same values give the same
/// interval. Unbounded for fewer than two values.
Interval bootstrap_interval(std::span<const double> values, double level);

/// The interval for the median between two of the values (Conover, Practical Nonparametric Statistics, 3.2):
/// from the k-th smallest to the k-th largest, for the largest k that covers with a probability of at least
/// `level`. It lies on one side of a number exactly if the sign test distinguishes the values from that
/// number with p of at most 1 - level. Does not assume a normal distribution. Unbounded for too few values.
Interval median_interval(std::vector<double> values, double level);

/// The interval of Clopper and Pearson (1934) for the probability of what happened in `count` of `trials`:
/// exact, and somewhat too wide. [0, 1] for no trials.
Interval share_interval(std::int64_t count, std::int64_t trials, double level);

/// The t interval for the mean of shares between 0 and 1, made on the logit scale so that it stays between
/// them: logit(mean) -+ t s / (sqrt(n) mean (1 - mean)), mapped back. The t interval where the mean is 0
/// or 1.
Interval logit_interval(std::span<const double> values, double level);

/// I_x(a, b), the regularised incomplete beta function: the distribution behind Student's t and the binomial.
double incomplete_beta(double x, double a, double b);

/// The q-quantile of Student's t with `degrees` degrees of freedom, 0 < q < 1: `t_quantile(0.975, 5)`
/// is 2.571.
double t_quantile(double q, double degrees);

}  // namespace gradus::lab
