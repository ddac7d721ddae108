#pragma once
// The styles of bars: each differs in colour and in hatching, so that either is enough.

#include "gradus/kit/chart/detail/plot_area.h"
#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {

/// Draws one bar, in a group of style_class(style).
void draw_bar(Svg& svg, int style, const Box& bar);

/// Draws samples with names, in one or more rows; returns their height.
double draw_bar_legend(Svg& svg, const std::vector<BarSeries>& series, double left, double top, double width);

}  // namespace gradus::kit
