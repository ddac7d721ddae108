#pragma once
// The two placements that are compared, and labels for them.

#include <array>
#include <string>

#include "gradus/nn/placements/placements.h"

namespace gradus::lab::compare {

/// The order of all tables and charts; differences are second minus first.
using Placements = std::array<nn::Placement, 2>;

bool contains(const Placements& two, const nn::Placement& one);
/// Its index, which is the style of its lines.
int style_of(const Placements& two, const nn::Placement& one);
/// Whether they are Pre-LN and Post-LN, the subject of most of the report's text.
bool pre_and_post(const Placements& two);

/// "Post-LN - Pre-LN": the second minus the first.
std::string difference_label(const Placements& placements);

}  // namespace gradus::lab::compare
