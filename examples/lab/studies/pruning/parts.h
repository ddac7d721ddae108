#pragma once
// The parts of the study of pruning: its settings, which plan, figures and page share; what becomes of a
// model without one of its layers.

#include <string>
#include <vector>

#include "gradus/nn/nn.h"
#include "lab/study/study.h"
#include "lab/study/trial.h"

namespace gradus::lab::pruning {

inline const std::vector<std::string> kPlacements = {"Pre-LN", "Post-LN", "LN scaling"};

struct Grid {
  std::int64_t layers = 12;
  std::vector<std::string> placements = kPlacements;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0, warmup = 0;
};
Grid grid_of(const StudyOptions& options);

std::string run_name(const std::string& placement, double rate, std::uint64_t seed);

/// Loss of the recall language's validation set, the model's layers called in this order.
double loss_with(const nn::GPT& gpt, const Task& task, const std::vector<std::size_t>& order);
/// Cosine of x_l and x_(l+1), mean over tokens, for each layer.
std::vector<double> cosines_of(const nn::GPT& gpt, const Tensor& ids);
/// What the deeper half of the entries has of the sum of all; entries below 0 count as 0; NaN where all do.
double deeper_share(const std::vector<double>& rises);

Measured measure(const std::string& placement, double rate, std::uint64_t seed, const Grid& grid);

/// In the mean over seeds; NaN for none.
double rate_of(const StudyResults& results, const std::string& placement);
/// The run of a seed at that rate whose model learned; empty where there is none.
std::string learned_run(const StudyResults& results, const std::string& placement, std::uint64_t seed);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::pruning
