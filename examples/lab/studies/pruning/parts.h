#pragma once
// The parts of the study of pruning: its settings, which plan, figures and page share, and measurements of a
// model without one of its layers.

#include <string>
#include <vector>

#include "gradus/nn/nn.h"
#include "lab/studies/search.h"
#include "lab/study/study.h"
#include "lab/training/trial.h"

namespace gradus::lab::pruning {

inline const std::vector<std::string> kPlacements = {"Pre-LN", "Post-LN", "LN scaling"};

struct Grid {
  std::int64_t layers = 12;
  std::vector<std::string> placements = kPlacements;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::int64_t steps = 0, warmup = 0;

  /// The runs of one placement, by final loss.
  Search search(const std::string& placement) const;
};
Grid grid_of(const StudyOptions& options);

std::string run_name(const std::string& placement, double rate, std::uint64_t seed);

/// Loss of the task's validation set, with the model's layers called in this order.
double loss_with(const nn::GPT& gpt, const Task& task, const std::vector<std::size_t>& order);
/// Cosine of x_l and x_(l+1), mean over tokens, for each layer.
std::vector<double> cosines_of(const nn::GPT& gpt, const Tensor& ids);
/// The share of the deeper half of the entries in the sum of all; entries below 0 count as 0; NaN if all do.
double deeper_share(const std::vector<double>& rises);

/// The mean of the deeper half; the middle one of an odd number is among them.
double deeper_mean(const std::vector<double>& values);
/// What dropping each layer alone adds to the loss.
std::vector<double> rises_by_dropping(const nn::GPT& gpt, const Task& task);

Measured measure(const std::string& placement, double rate, std::uint64_t seed, const Grid& grid);

/// For each seed its run at the rate that is best on the other seeds, if the model learned there; else empty.
std::vector<std::string> learned_runs(const StudyResults& results, const std::string& placement);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::pruning
