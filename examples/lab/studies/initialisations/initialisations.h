#pragma once
// The parts of the study: its settings, which plan, figures and page share.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/study.h"

namespace gradus::lab::initialisations {

inline constexpr std::array<const char*, 2> kPlacements = {"Pre-LN", "Post-LN"};
inline constexpr std::int64_t kSteps = 280;

/// At one depth every scheme of both placements is given the same rates and seeds.
struct Depth {
  std::int64_t layers;
  std::vector<std::string> schemes;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
};
std::vector<Depth> depths_of(const StudyOptions& options);

std::string run_name(const std::string& scheme, const std::string& placement, std::int64_t layers, double lr,
                     std::uint64_t seed);

/// Final losses of one scheme, placement and seed, a rate each; nothing until all are there.
std::optional<std::vector<double>> losses(const StudyResults& results, const Depth& depth,
                                          const std::string& scheme, const std::string& placement,
                                          std::uint64_t seed);

enum class Over { best_rate, mean_of_rates };
/// The loss of a seed at the rate that is best on the other seeds, or its mean over rates; nothing until all
/// runs of the seed are there.
std::optional<double> loss_over(const StudyResults& results, const Depth& depth, const std::string& scheme,
                                const std::string& placement, std::uint64_t seed, Over over);

/// Largest minus least loss of all schemes but the "scaled" one, at one seed; nothing until all are there.
std::optional<double> spread_of_schemes(const StudyResults& results, const Depth& depth,
                                        const std::string& placement, std::uint64_t seed, Over over);
/// Loss of 1/fan_in minus that of 1/fan_in, scaled: above 0 where scaling helps.
std::optional<double> gain_of_scaling(const StudyResults& results, const Depth& depth,
                                      const std::string& placement, std::uint64_t seed, Over over);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::initialisations
