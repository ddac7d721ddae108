#include "lab/studies/long/far_recall.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"

namespace gradus::lab {

namespace {

constexpr std::int64_t kNothingAsked = -100;

std::vector<std::int64_t> shuffled(std::int64_t count, Generator& generator) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = count - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(generator.below(i + 1))]);
  return order;
}

}  // namespace

FarRecall::FarRecall(const FarRecallOptions& options) : options_(options) {
  check(options.keys >= 1 && options.values >= 2 && options.noise >= 1 && options.questions >= 1,
        "FarRecall: expects at least 1 key, 2 values, 1 token of noise and 1 question, got {}, {}, {} and {}",
        options.keys, options.values, options.noise, options.questions);
}

std::int64_t FarRecall::vocabulary() const {
  return options_.keys * options_.values + options_.keys + options_.noise;
}

std::int64_t FarRecall::length(std::int64_t distance) const {
  return options_.keys + distance + options_.questions;
}

Batch FarRecall::batch(std::int64_t count, std::int64_t distance, Generator& generator) const {
  check(count >= 1 && distance >= 0, "FarRecall: expects documents and a distance, got {} and {}", count,
        distance);
  const std::int64_t first_question = options_.keys * options_.values;
  const std::int64_t first_noise = first_question + options_.keys;
  std::vector<std::int64_t> inputs, targets;
  for (std::int64_t document = 0; document < count; ++document) {
    std::vector<std::int64_t> pair_of(static_cast<std::size_t>(options_.keys));
    for (const std::int64_t key : shuffled(options_.keys, generator)) {
      const std::int64_t pair = key * options_.values + generator.below(options_.values);
      pair_of[static_cast<std::size_t>(key)] = pair;
      inputs.push_back(pair);
    }
    for (std::int64_t i = 0; i < distance; ++i)
      inputs.push_back(first_noise + generator.below(options_.noise));
    targets.insert(targets.end(), static_cast<std::size_t>(options_.keys + distance), kNothingAsked);
    for (std::int64_t i = 0; i < options_.questions; ++i) {
      const std::int64_t key = generator.below(options_.keys);
      inputs.push_back(first_question + key);
      targets.push_back(pair_of[static_cast<std::size_t>(key)]);
    }
  }
  const Shape shape{count, length(distance)};
  return {.inputs = from_vector(inputs, shape), .targets = from_vector(targets, shape)};
}

double FarRecall::forgetful_loss() const { return std::log(static_cast<double>(options_.values)); }

}  // namespace gradus::lab
