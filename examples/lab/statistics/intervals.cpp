#include "lab/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gradus/core/random/random.h"
#include "lab/statistics/statistics.h"

namespace gradus::lab {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr int kBootstrapSamples = 10'000;

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated from the front (Lentz
/// 1976).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  const auto add = [&](double coefficient) {
    d = 1 / away_from_zero(1 + coefficient * d);
    c = away_from_zero(1 + coefficient / c);
    value *= d * c;
    return std::abs(d * c - 1);
  };
  for (int m = 1; m <= 1000; ++m) {
    add(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (add(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) < 1e-15) break;
  }
  return value;
}

/// The x in [low, high] with f(x) = 0 for a function that grows.
template <class F>
double root_of(const F& f, double low, double high) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (f(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

double t_distribution(double t, double degrees) {
  const double tail = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

}  // namespace

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side of the mean; the other follows from I_x(a, b) = 1 - I_1-x(b, a).
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double t_quantile(double q, double degrees) {
  double bound = 1;
  while (t_distribution(bound, degrees) < std::max(q, 1 - q)) bound *= 2;
  return root_of([&](double t) { return t_distribution(t, degrees) - q; }, -bound, bound);
}

Interval t_interval(std::span<const double> values, double level) {
  if (values.size() < 2) return {-kUnbounded, kUnbounded};
  const auto n = static_cast<double>(values.size());
  const double half = t_quantile((1 + level) / 2, n - 1) * standard_deviation(values) / std::sqrt(n);
  return {mean(values) - half, mean(values) + half};
}

Interval bootstrap_interval(std::span<const double> values, double level) {
  if (values.size() < 2) return {-kUnbounded, kUnbounded};
  Generator generator(0x626f6f74, 0);
  std::vector<double> means;
  const auto n = static_cast<std::int64_t>(values.size());
  for (int sample = 0; sample < kBootstrapSamples; ++sample) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += values[static_cast<std::size_t>(generator.below(n))];
    means.push_back(sum / static_cast<double>(n));
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double q) { return means[static_cast<std::size_t>(q * (kBootstrapSamples - 1))]; };
  return {at((1 - level) / 2), at((1 + level) / 2)};
}

Interval median_interval(std::vector<double> values, double level) {
  const std::size_t n = values.size();
  // Of n fair coins: the chance of fewer than k heads, which is that of a median below the k-th least value.
  double chance = std::pow(0.5, static_cast<double>(n)), below = 0;
  std::size_t k = 0;
  while (2 * (k + 1) <= n && 2 * (below + chance) <= 1 - level) {
    below += chance;
    chance *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  if (k == 0) return {-kUnbounded, kUnbounded};
  std::sort(values.begin(), values.end());
  return {values[k - 1], values[n - k]};
}

Interval share_interval(std::int64_t count, std::int64_t trials, double level) {
  const auto k = static_cast<double>(count), n = static_cast<double>(trials);
  const double tail = (1 - level) / 2;
  Interval interval{0, 1};
  if (count > 0)
    interval.low = root_of([&](double p) { return incomplete_beta(p, k, n - k + 1) - tail; }, 0, 1);
  if (count < trials)
    interval.high = root_of([&](double p) { return incomplete_beta(p, k + 1, n - k) - (1 - tail); }, 0, 1);
  return interval;
}

Interval logit_interval(std::span<const double> values, double level) {
  const double center = mean(values);
  if (values.size() < 2 || center <= 0 || center >= 1) return t_interval(values, level);
  const Interval plain = t_interval(values, level);
  const double half =
      (plain.high - center) / (center * (1 - center));  // the logit's slope is 1 / (p (1 - p))
  const auto back = [&](double shift) { return 1 / (1 + (1 - center) / center * std::exp(-shift)); };
  return {back(-half), back(half)};
}

}  // namespace gradus::lab
