#pragma once
// The still forms of the live figures, from the numbers that the pages show: figure_tape.svg, figure_adam.svg
// and figure_attention.svg.

#include <filesystem>

namespace gradus::docs {

void draw_live_figures(const std::filesystem::path& folder);

}  // namespace gradus::docs
