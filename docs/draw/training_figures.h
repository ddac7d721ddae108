#pragma once
// Static versions of the live figures that train models: placement.html and schedule.html.

#include <filesystem>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::docs {

/// figure_placement.svg: block 6 of 12, Pre-LN and Post-LN, with the gradient's path through it.
std::string placement_figure();

/// figure_schedule.svg: the tries that schedule_tries.mjs has recorded.
kit::Panels schedule_figure(const std::filesystem::path& tries);

}  // namespace gradus::docs
