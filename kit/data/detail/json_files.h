#pragma once
// Reads and writes the JSON files of the lab and the benchmarks.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gradus::kit {

/// JSON that keeps the order of its keys. Include <nlohmann/json.hpp> to use it.
using Json = nlohmann::ordered_json;

/// Throws Json::exception for invalid JSON, and Error if it is nested too deep: printing uses recursion.
Json parse_json(std::string_view text);

/// Replaces a JSON file atomically, indented by two spaces; numbers that are not finite become null.
void write_json(const std::filesystem::path& path, const Json& value);

/// Reads a JSON file; on an error, throws naming file and position.
Json read_json(const std::filesystem::path& path);

/// The number; NaN for null, which replaces numbers that are not finite.
double number(const Json& value);

}  // namespace gradus::kit
