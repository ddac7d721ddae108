#pragma once
// The parts of the study: its settings, which plan, figures and page share.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/studies/search.h"

namespace gradus::lab::update_size {

inline constexpr std::array<const char*, 4> kPlacements = {"Pre-LN", "Post-LN", "DeepNorm", "Admin"};
inline constexpr std::int64_t kUpdates = 16;
// Of Adam, and of the single step of gradient descent, where sizes are measured: small, so outputs move by
// far less than their own size, beyond which norms do not let them move.
inline constexpr double kRate = 1e-6, kSgdRate = 1e-5;
inline constexpr std::int64_t kTrainedLayers = 12, kTrainedSteps = 300;
inline constexpr double kTrainedRate = 3e-3, kSlowRate = 1e-3;

std::vector<std::int64_t> depths_of(const StudyOptions& options);
std::vector<std::uint64_t> seeds_of(const StudyOptions& options);
bool trains(const StudyOptions& options);

std::string size_name(const std::string& placement, std::int64_t layers, std::uint64_t seed);
std::string train_name(std::uint64_t seed);
Runs sizes_of(const StudyResults& results, const std::string& placement, std::int64_t layers);
Runs trained_of(const StudyResults& results);
/// How a number grows with depth, as a power, seed by seed; NaN until all depths have finished.
std::vector<double> growth(const StudyResults& results, const std::string& placement,
                           const std::string& number);

/// How the output of a model before its first step moves: root mean squares over all logits of one batch.
/// Numbers "gradient" (norm of the whole gradient), "logits", "sgd" (after one step of gradient descent),
/// "update.1", "update.16"; series "updates", |F(x, w_k) - F(x, w_0)| for k = 1..16.
Measured measure_sizes(const std::string& placement, std::int64_t layers, std::uint64_t seed);

/// Trains Pre-LN, then Post-LN three times on the same batches: unchanged; at a lower rate; with each update
/// scaled down where it moves the batch's logits more than Pre-LN's own update at that step did. Gradients
/// are not held: Adam divides by their size, so that would change almost nothing. Numbers "loss.pre",
/// "loss.post", "loss.slower", "loss.held"; "learned.*", 1 where the loss ended below that of the best
/// n-gram; "held.most", the largest held update over its limit; "larger.first", log10 of Post-LN's first
/// update over Pre-LN's.
Measured measure_training(std::uint64_t seed, std::int64_t layers = kTrainedLayers,
                          std::int64_t steps = kTrainedSteps);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::update_size
