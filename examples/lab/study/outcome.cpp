#include "lab/study/outcome.h"

#include <algorithm>
#include <cmath>

#include "lab/statistics/statistics.h"

namespace gradus::lab {

namespace {

constexpr double kShareToTarget = 0.75;  // as in the lab's own comparison

}  // namespace

double learned_loss() { return recall_task().ngram().loss; }

double target_loss() {
  return learned_loss() - kShareToTarget * (learned_loss() - recall_task().entropy().value());
}

Measured outcome_of(const TrialResult& result, std::size_t points) {
  return {.numbers = {{"loss", result.final_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0},
                      {"steps", steps_to(result.losses, target_loss())}},
          .series = {{"losses", slice_means(result.losses, points)}}};
}

std::vector<double> slice_means(const std::vector<double>& values, std::size_t count) {
  if (values.size() <= count) return values;
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    means.push_back(mean(std::span(values).subspan(begin, end - begin)));
  }
  return means;
}

std::optional<std::vector<double>> numbers_of(const StudyResults& results,
                                              const std::vector<std::string>& runs,
                                              const std::string& number) {
  std::vector<double> values;
  for (const std::string& run : runs) {
    if (!results.has(run)) return std::nullopt;
    values.push_back(results.number(run, number));
  }
  return values;
}

double sensitivity_of(std::span<const double> losses) {
  return mean(losses) - *std::min_element(losses.begin(), losses.end());
}

double largest_rate(std::span<const double> rates, std::span<const double> losses) {
  for (std::size_t i = rates.size(); i-- > 0;)
    if (losses[i] < learned_loss()) return rates[i];
  return rates[0] * rates[0] / rates[1];
}

}  // namespace gradus::lab
