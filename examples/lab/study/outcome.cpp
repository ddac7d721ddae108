#include "lab/study/outcome.h"

#include <span>

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

}  // namespace gradus::lab
