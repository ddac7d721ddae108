#pragma once
// How bars look: each style differs in colour and hatching, so that either is enough.

#include "gradus/kit/chart/detail/plot_area.h"
#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {

/// One bar, in a group of style_class(style).
void draw_bar(Svg& svg, int style, const Box& bar);

/// A row or more of samples with names; returns the height it takes.
double draw_bar_legend(Svg& svg, const std::vector<BarSeries>& series, double left, double top, double width);

}  // namespace gradus::kit
