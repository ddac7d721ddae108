#pragma once
// The parts of the study: its settings, which plan, figures and page share.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/studies/search.h"

namespace gradus::lab::initialisations {

inline constexpr std::array<const char*, 2> kPlacements = {"Pre-LN", "Post-LN"};
inline constexpr std::int64_t kSteps = 280;

/// At one depth every scheme of both placements is given the same rates and seeds.
struct Depth {
  std::int64_t layers;
  std::vector<std::string> schemes;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;

  /// The runs of one scheme and placement, by final loss.
  Search search(const std::string& scheme, const std::string& placement) const;
};
std::vector<Depth> depths_of(const StudyOptions& options);

std::string run_name(const std::string& scheme, const std::string& placement, std::int64_t layers, double lr,
                     std::uint64_t seed);

enum class Over { best_rate, mean_of_rates };
/// The loss of each seed at the rate that is best on the other seeds, or its mean over rates; NaN until all
/// runs of the seed have finished.
std::vector<double> loss_over(const StudyResults& results, const Depth& depth, const std::string& scheme,
                              const std::string& placement, Over over);

/// Largest minus smallest loss of all schemes except the "scaled" one, seed by seed; NaN until all have
/// finished.
std::vector<double> spread_of_schemes(const StudyResults& results, const Depth& depth,
                                      const std::string& placement, Over over);
/// Loss of 1/fan_in minus that of 1/fan_in, scaled: above 0 where scaling helps.
std::vector<double> gain_of_scaling(const StudyResults& results, const Depth& depth,
                                    const std::string& placement, Over over);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::initialisations
