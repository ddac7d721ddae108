#pragma once
// Shared by plan, figures and page of the study of long distances.

#include <string>
#include <vector>

#include "lab/studies/long/far_recall.h"
#include "lab/studies/search.h"
#include "lab/training/trial.h"

namespace gradus::lab::far {

constexpr std::int64_t kLayers = 4, kFullLayer = 2, kWindow = 32, kChannels = 16;

/// Losses of an answer that differ by less (nats) are the same: 1.4% of ln 4, the loss without looking back.
inline constexpr double kMargin = 0.02;

/// Training at one distance; the next stage continues from it.
struct Stage {
  std::int64_t distance = 0, steps = 0, batch = 0;
};

struct Setting {
  std::vector<Stage> stages;
  std::vector<nn::Placement> placements;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;      // of Pre-LN and Post-LN, whose difference the claim is about
  std::vector<std::uint64_t> few_seeds;  // of the others

  std::vector<std::int64_t> distances() const;
  Search search(const nn::Placement& placement, std::int64_t distance,
                const std::string& number = "loss") const;
};
Setting setting_of(const StudyOptions& options);

/// "loss.D1024": the number of a run at one distance.
std::string number_name(const std::string& number, std::int64_t distance);

/// Blocks of the placement that see `kWindow` tokens back, except for one, which sees all.
nn::Placement banded(const nn::Placement& placement);

/// Numbers at each distance D: "zero.D", share of right answers before the model was trained at D; "loss.D"
/// and "right.D" after.
Measured measure(const nn::Placement& placement, const std::vector<Stage>& stages, double rate,
                 std::uint64_t seed);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::far
