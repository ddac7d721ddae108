#pragma once
// Draws what ./run bench --record writes as the charts and tables of docs/performance.md.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace gradus::docs {

/// A file of docs/data, such as performance.json.
nlohmann::json read_performance(const std::string& file);

/// Draws the page's charts into a folder.
void draw_performance(const std::filesystem::path& folder);

}  // namespace gradus::docs
