#pragma once
// Keys that no query can select: those inside the convex hull of the other keys (Brody et al. 2023,
// arXiv:2305.02582). For every query another key has a score at least as high.

#include <string>
#include <vector>

#include "gradus/nn/norm/norm.h"
#include "lab/studies/runs.h"

namespace gradus::lab::papers {

using Point = std::vector<double>;

/// Whether the point is a weighted mean of the others, up to rounding.
bool in_hull(const Point& point, const std::vector<Point>& others);
/// The share of points that are in the hull of the others.
double unselectable_share(std::vector<Point> keys);

/// What the models' blocks have as their norm.
struct KeyKind {
  std::string name, title;
  nn::MakeNorm norm;
};
const std::vector<KeyKind>& key_kinds();

std::string keys_name(const KeyKind& kind, std::uint64_t seed);
/// The finished runs of one kind.
Runs keys_runs(const StudyResults& results, const std::vector<std::uint64_t>& seeds, const KeyKind& kind);

inline constexpr double kKeyRate = 3e-3;
/// Numbers "start" and "unselectable": the share before and after training, mean over layers and lines;
/// "loss".
Measured measure_keys(const KeyKind& kind, std::int64_t steps, std::uint64_t seed);

}  // namespace gradus::lab::papers
