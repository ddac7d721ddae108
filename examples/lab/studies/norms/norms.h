#pragma once
// Shared by the parts of the study of norms.

#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::norms {

/// A norm's formula with its mean and variance as constants in backward (Xu et al. 2019, "DetachNorm"): its
/// output is LayerNorm's, its gradient is not.
struct DetachedLayerNorm : nn::Module {
  explicit DetachedLayerNorm(const nn::NormOptions& options);
  Tensor operator()(const Tensor& x) const;
  nn::Parameter weight, bias;  // [C]

 private:
  double eps_;
};

struct Kind {
  std::string name;   // "layer", in names of runs
  std::string title;  // "LayerNorm"
  nn::MakeNorm make;
  int style;  // the same in all charts
};
/// LayerNorm, RMSNorm, DyT, BatchNorm, LayerNorm with detached statistics, none.
const std::vector<Kind>& kinds();
const Kind& kind_named(const std::string& name);

/// A stack in which all norms are tried.
struct Stack {
  std::string name;   // "pre6"
  std::string title;  // "Pre-LN, 6 layers"
  nn::Placement placement;
  std::int64_t layers = 0;
};

/// The plan in numbers.
struct Setting {
  std::vector<Stack> stacks;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds, start_seeds;
  std::vector<Kind> looked_into;  // whose shift and gradients are measured
  std::int64_t steps = 0;

  /// Without norms Post-LN equals Pre-LN, and the search is that of the Pre-LN stack.
  Search search(const Stack& stack, const std::string& norm) const;
};
Setting setting_of(const StudyOptions& options);
std::string shift_name(const std::string& norm, std::uint64_t seed);
std::string start_name(const std::string& start, const std::string& norm, std::uint64_t seed);
Runs shift_runs(const StudyResults& results, const std::string& norm);
Runs start_runs(const StudyResults& results, const std::string& start, const std::string& norm);

/// Trains one stack with one norm.
Measured measure_training(const Stack& stack, const Kind& kind, double rate, std::int64_t steps,
                          std::uint64_t seed);

// How far training moves a layer's input (shift.cpp).
constexpr double kShiftRate = 3e-3;
/// Numbers "inputs" and "gradients", the mean over layers and steps of their log10; series by step.
Measured measure_shift(const Kind& kind, std::int64_t steps, std::uint64_t seed);

// Gradients of deep stacks before the first step (start.cpp).
constexpr std::int64_t kStartLayers = 48;
constexpr std::size_t kStartPoints = 16;
struct Start {
  std::string name;   // "pre-x2"
  std::string title;  // "Pre-LN, weights x 2"
  nn::Placement placement;
  double scale = 1;
};
const std::vector<Start>& starts();
/// Number "spread": largest minus smallest log10 |dL/dx_l| over the blocks; series "gradient": log10 of each.
Measured measure_start(const Start& start, const Kind& kind, std::uint64_t seed);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::norms
