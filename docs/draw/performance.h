#pragma once
// The figures of docs/performance.md: performance.json, as ./run bench --record writes it, as charts and
// tables.

#include <filesystem>
#include <nlohmann/json.hpp>

namespace gradus::docs {

/// docs/data/performance.json.
nlohmann::json read_performance();

/// Draws the page's charts into a folder.
void draw_performance(const std::filesystem::path& folder);

}  // namespace gradus::docs
