#pragma once
// What the checks of check_op share: their random numbers, comparisons and complaints.

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/core/detail/bits.h"
#include "gradus/core/detail/format.h"

namespace gradus::test {

using Values = std::vector<double>;

inline double largest(const Values& values) {
  double top = 0;
  for (const double v : values)
    if (std::isfinite(v)) top = std::max(top, std::abs(v));
  return top;
}

inline bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || bit_cast<std::uint64_t>(a) == bit_cast<std::uint64_t>(b);
}

/// Collects what is wrong, each with the op's name and what was tried.
class Checks {
 protected:
  Checks(const std::string& name, const CheckOptions& options, std::uint64_t seed)
      : options_(options), random_(seed), name_(name) {}

  template <class... Args>
  void complain(fmt::format_string<const Args&...> message, const Args&... args) {
    const std::string start = name_ + ", " + context_ + ": ";
    const auto alike = [&](const std::string& problem) { return problem.starts_with(start); };
    if (std::count_if(problems_.begin(), problems_.end(), alike) < 2)
      problems_.push_back(start + fmt::format(message, args...));
  }

  /// Numbers f32 can hold, so that f32 and f64 runs start from the same ones.
  double draw_one(double low, double high) {
    for (;;) {
      const double x = static_cast<float>(std::uniform_real_distribution(low, high)(random_));
      const auto near = [x](double kink) { return std::abs(x - kink) < 0.05; };
      if (std::none_of(options_.kinks.begin(), options_.kinks.end(), near)) return x;
    }
  }

  Array draw(const Input& input) {
    Array values = Array::empty(input.shape, f64);
    std::generate_n(values.mutable_data<double>(), values.numel(),
                    [&] { return draw_one(input.low, input.high); });
    return values;
  }

  /// The incoming gradient of output k: fixed random numbers, away from 0.
  const Array& seed(std::size_t k, const Shape& shape) {
    while (seeds_.size() <= k) seeds_.emplace_back();
    if (!seeds_[k].defined() || seeds_[k].shape() != shape) {
      seeds_[k] = Array::empty(shape, f64);
      std::generate_n(seeds_[k].mutable_data<double>(), seeds_[k].numel(), [&] {
        const double w = static_cast<float>(std::uniform_real_distribution(0.5, 1.5)(random_));
        return random_() % 2 == 0 ? w : -w;
      });
    }
    return seeds_[k];
  }

  /// Complains unless got equals want: to the bit when the tolerances are 0.
  void compare(const char* what, std::size_t which, const Values& got, const Values& want, double rtol,
               double atol) {
    if (got.size() != want.size())
      return complain("{} {} has {} elements, not {}", what, which, got.size(), want.size());
    const double tolerance = rtol * largest(want) + atol;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (same_bits(got[i], want[i]) || (tolerance > 0 && std::abs(got[i] - want[i]) <= tolerance)) continue;
      return complain("{} {}, element {}: {:.17g} instead of {:.17g}", what, which, i, got[i], want[i]);
    }
  }

  const CheckOptions& options_;
  std::mt19937_64 random_;
  std::vector<Array> seeds_;  // incoming gradients: f64, contiguous
  std::string context_;
  std::vector<std::string> problems_;

 private:
  std::string name_;
};

}  // namespace gradus::test
