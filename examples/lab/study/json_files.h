#pragma once
// JSON files of the lab.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace gradus::lab {

/// JSON that keeps its keys in the order they were written. Include <nlohmann/json.hpp> to use it.
using Json = nlohmann::ordered_json;

/// Replaces a JSON file whole, indented by two spaces; numbers that are not finite become null.
void write_json(const std::filesystem::path& path, const Json& value);

/// Reads a JSON file; throws naming file and place, also where it is too deep: its printing needs a stack as
/// deep.
Json read_json(const std::filesystem::path& path);

}  // namespace gradus::lab
