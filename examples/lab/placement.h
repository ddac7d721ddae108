#pragma once
// The placements a lab compares: two of nn::placements().

#include <algorithm>
#include <array>
#include <string>

#include "gradus/nn/placements/placements.h"

namespace gradus::lab {

/// One of them, by its name in the library.
struct Placement {
  std::string title;  // "Pre-LN"

  bool operator==(const Placement&) const = default;
  static const Placement pre, post;
};
inline const Placement Placement::pre{"Pre-LN"}, Placement::post{"Post-LN"};

/// The two of a lab, in the order of all tables and charts; differences are those of the second to the first.
using Placements = std::array<Placement, 2>;

inline bool contains(const Placements& two, const Placement& one) {
  return std::find(two.begin(), two.end(), one) != two.end();
}
/// Its place in them: the style of its lines.
inline int style_of(const Placements& two, const Placement& one) { return one == two[0] ? 0 : 1; }
/// What most of the lab's text is about.
inline bool pre_and_post(const Placements& two) { return two == Placements{Placement::pre, Placement::post}; }

inline nn::Placement in_library(const Placement& placement) { return nn::placement_named(placement.title); }

}  // namespace gradus::lab
