#include "lab/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gradus::lab {

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Spread spread_of(std::span<const double> values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {nan, nan, nan, nan, 0};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {mean(values), standard_deviation(values), *low, *high, values.size()};
}

double sign_test(std::int64_t up, std::int64_t down, std::int64_t seeds) {
  // Twice the binomial tail; logarithms keep large counts from underflowing.
  const auto n = static_cast<double>(seeds);
  double tail = 0;
  for (std::int64_t k = std::max(up, down); k <= seeds; ++k) {
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

Difference difference_of(std::span<const double> differences) {
  const Spread spread = spread_of(differences);
  return {.mean = spread.mean,
          .low = spread.low,
          .high = spread.high,
          .up = std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0; }),
          .down = std::count_if(differences.begin(), differences.end(), [](double d) { return d < 0; }),
          .count = static_cast<std::int64_t>(differences.size())};
}

namespace {

/// Indices of the values in ascending order.
std::vector<std::size_t> rising(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

/// Of each value, from 0.
std::vector<double> ranks_of(std::span<const double> values) {
  const std::vector<std::size_t> order = rising(values);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (a.size() != b.size() || a.size() < 3) return nan;
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double middle = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : nan;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = rising(p);
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(p.size() - rank);  // questions not yet answered
    largest = std::max(largest, std::min(1.0, left * p[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = rising(p);
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t rank = order.size(); rank-- > 0;) {
    const double share = static_cast<double>(p.size()) / static_cast<double>(rank + 1);
    least = std::min(least, share * p[order[rank]]);
    adjusted[order[rank]] = least;
  }
  return adjusted;
}

std::int64_t seeds_needed(std::size_t questions) {
  std::int64_t seeds = 1;
  while (static_cast<double>(questions) * sign_test(seeds, 0, seeds) >= kLevel) ++seeds;
  return seeds;
}

}  // namespace gradus::lab
