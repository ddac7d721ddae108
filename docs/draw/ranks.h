#pragma once
// What docs/data/ranks holds, and what the model of tests/distributed/speed/model.h says of more machines, as
// the charts and tables of docs/many_machines_speed.md.

#include <filesystem>
#include <nlohmann/json.hpp>

namespace gradus::docs {

/// A file of docs/data/ranks; null if it is not there.
nlohmann::json read_ranks(const char* file);

/// Efficiency of a step by the model, for a network of so many Gbit/s.
double predicted_efficiency(const char* model, double gbit, int ranks, double tokens, double bucket_mib);

/// The fewest tokens, for each rank and step, with which nine tenths of the time are computing.
double tokens_for_90(const char* model, double gbit, int ranks, double bucket_mib);

/// Draws the page's charts into a folder.
void draw_ranks(const std::filesystem::path& folder);

}  // namespace gradus::docs
