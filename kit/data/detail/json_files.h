#pragma once
// JSON files of the lab and of the benchmarks.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gradus::kit {

/// JSON that keeps its keys in the order they were written. Include <nlohmann/json.hpp> to use it.
using Json = nlohmann::ordered_json;

/// Throws Json::exception where the text is no JSON, Error where it is too deep: its printing needs a stack
/// as deep.
Json parse_json(std::string_view text);

/// Replaces a JSON file whole, indented by two spaces; numbers that are not finite become null.
void write_json(const std::filesystem::path& path, const Json& value);

/// Reads a JSON file; throws naming file and place.
Json read_json(const std::filesystem::path& path);

/// The number; NaN for the null it was written as when it was not finite.
double number(const Json& value);

}  // namespace gradus::kit
