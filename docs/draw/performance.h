#pragma once
// Draws performance.json, which ./run bench --record writes, as the charts and tables of docs/performance.md.

#include <filesystem>
#include <nlohmann/json.hpp>

namespace gradus::docs {

/// docs/data/performance.json.
nlohmann::json read_performance();

/// Draws the page's charts into a folder.
void draw_performance(const std::filesystem::path& folder);

}  // namespace gradus::docs
