#pragma once
// The two placements that are compared, and words for them.

#include <array>
#include <string>

#include "gradus/nn/placements/placements.h"

namespace gradus::lab::compare {

/// In the order of all tables and charts; differences are those of the second to the first.
using Placements = std::array<nn::Placement, 2>;

bool contains(const Placements& two, const nn::Placement& one);
/// Its place in them: the style of its lines.
int style_of(const Placements& two, const nn::Placement& one);
/// What most of the report's text is about.
bool pre_and_post(const Placements& two);

/// "Post-LN - Pre-LN": the second minus the first.
std::string difference_words(const Placements& placements);

}  // namespace gradus::lab::compare
