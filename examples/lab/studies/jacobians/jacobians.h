#pragma once
// The parts of the study: its settings, which plan, figures and page share.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/studies/jacobians/own_norm.h"
#include "lab/studies/search.h"
#include "lab/study/study.h"

namespace gradus::lab::jacobians {

struct Variant {
  const char* name;
  const char* title;
  NormBackward backward;
};
inline constexpr std::array<Variant, 4> kVariants = {{
    {"right", "right", NormBackward::right},
    {"constant-sigma", "σ constant", NormBackward::constant_sigma},
    {"printed", "(δᵢⱼ − μⱼ)/σ", NormBackward::printed},
    {"constants", "μ and σ constant", NormBackward::constants},
}};
inline constexpr std::array<const char*, 2> kPlacements = {"Pre-LN", "Post-LN"};
inline constexpr std::int64_t kLayers = 6, kSteps = 300;

/// The runs of a budget.
struct Grid {
  std::vector<Variant> variants;
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds, formula_seeds;
};
Grid grid_of(const StudyOptions& options);

std::string formula_name(std::uint64_t seed);
std::string run_name(const std::string& variant, const std::string& placement, double lr, std::uint64_t seed);

/// The runs of one variant in one placement, for choosing the best rate.
Search search_of(const Grid& grid, const std::string& variant, const std::string& placement);
/// Loss of a variant minus that of the right backward, seed by seed, each at the rate that is best on the
/// other seeds.
std::vector<double> lost(const StudyResults& results, const Grid& grid, const std::string& variant,
                         const std::string& placement);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::jacobians
