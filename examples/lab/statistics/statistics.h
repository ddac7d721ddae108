#pragma once
// Means and ranges of a few numbers, and tests of a difference between them when each number is that of one
// seed.
//
// The seed is the unit. Runs of one seed share their data and, at equal depth, their weights, so they share
// their chances, too: ten settings of one seed are one observation, not ten. Each question is therefore first
// reduced to one number per seed, and then the seeds are counted: on how many is it above zero, on how many
// below? That is the sign test (Arbuthnott 1710; Conover, Practical Nonparametric Statistics, 3.4): is one
// side likelier? It needs independent seeds, but no normal distribution, which losses of runs that learn or
// fail do not follow.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gradus::lab {

/// NaN for no values.
double mean(std::span<const double> values);
/// Of an even number of values, the mean of the two in the middle; NaN for no values. NaNs do not count.
double median(std::vector<double> values);
/// Of a sample (n - 1); 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

struct Spread {
  double mean = 0, std = 0, low = 0, high = 0;
  std::size_t count = 0;
};

/// NaN throughout for no values.
Spread spread_of(std::span<const double> values);

/// The exact sign test, two-sided: how likely `up` or more of `seeds`, or `down` or more, would be on one
/// side if neither side were likelier than one half. Seeds on neither side (no difference) count against
/// both. All of n seeds on one side: 2 / 2^n. Not below 1 for up = down.
double sign_test(std::int64_t up, std::int64_t down, std::int64_t seeds);

/// Differences, one per seed: their mean, their range, and on how many seeds they are above and below zero.
struct Difference {
  double mean = 0, low = 0, high = 0;
  std::int64_t up = 0, down = 0, count = 0;
  /// The side most seeds are on: 1, -1, or 0 when both have as many.
  int side() const { return up > down ? 1 : down > up ? -1 : 0; }
  /// How many are on it.
  std::int64_t agreeing() const { return up > down ? up : down; }
  double p() const { return sign_test(up, down, count); }
};

/// NaN, and no seeds, for no differences.
Difference difference_of(std::span<const double> differences);

/// p-values of several questions asked at once, corrected so that the chance of even one p < 0.05 where there
/// is nothing to find stays below 0.05 (Holm 1979); in the given order.
std::vector<double> holm(std::span<const double> p);

/// p-values of many questions, adjusted so that of those with an adjusted p of at most 0.05 no more than 5%
/// are expected to be chance (Benjamini and Hochberg 1995); in the given order.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Spearman's rank correlation of pairs, none of them NaN: from -1 to 1. Equal values have the mean of their
/// ranks. NaN for fewer than three pairs, or where all values of one side are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// The level of significance.
constexpr double kLevel = 0.05;

/// The smallest number of seeds that can give p < 0.05 to each of `questions`, asked at once, if all seeds
/// agree.
std::int64_t seeds_needed(std::size_t questions);

}  // namespace gradus::lab
