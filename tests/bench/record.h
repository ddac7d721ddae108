#pragma once
// ./run bench --record FILE: measures what docs/performance.md shows, part by part, and keeps it as JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gradus::bench {

/// Names of the parts, in the order they are measured.
std::vector<std::string> record_parts();

/// Throws what would else be found after measuring: that the file cannot be written, or is none of these.
void try_record(const std::string& file);

/// Measures `parts` (all when empty) and replaces them in the file, which keeps what else it holds.
void record(const std::string& file, const std::vector<std::string>& parts);

/// Adds rows of --against-pytorch, as JSON lines, to the file, those in bf16 apart; replaces those of the same
/// case.
void record_comparison(const std::string& file, const std::string& json_lines);

nlohmann::ordered_json record_profile();    // where the time of a step goes
nlohmann::ordered_json record_peaks();      // the roofline: what the machine can do,
nlohmann::ordered_json record_points();     // and what ops reach of it
nlohmann::ordered_json record_kernels();    // techniques, each without and with: inner loops,
nlohmann::ordered_json record_memory();     // memory,
nlohmann::ordered_json record_fused();      // ops made into one
nlohmann::ordered_json record_attention();  // time and memory over T
nlohmann::ordered_json record_depth();
nlohmann::ordered_json record_width();
nlohmann::ordered_json record_threads();
nlohmann::ordered_json record_identity();  // what results that do not depend on the number of threads cost

}  // namespace gradus::bench
