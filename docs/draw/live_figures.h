#pragma once
// Static versions of the live figures, with the values that the pages show: figure_tape.svg, figure_adam.svg
// and figure_attention.svg.

#include <filesystem>

namespace gradus::docs {

void draw_live_figures(const std::filesystem::path& folder);

}  // namespace gradus::docs
