#pragma once
// The styles of series: each differs in colour, dashes and marker, so that any one of them is enough.

#include <string>

#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {

constexpr int chart_styles = 8;

/// The class of a series' group, which sets the colour.
std::string style_class(int style);
/// The stroke-dasharray attribute, empty for a solid line.
std::string dashes(int style);
/// Adds the outline of the marker around (x, y).
void add_marker(PathData& path, int style, double x, double y, double radius);

// Font sizes in a drawing 400 wide; at 360 pixels of screen they shrink by a seventh.
constexpr double title_size = 15;
constexpr double text_size = 12.5;

constexpr double margin = 6;  // around a drawing

}  // namespace gradus::kit
