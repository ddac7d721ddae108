#pragma once
// Reads and writes tokenizers' files.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::text::detail {

using Json = nlohmann::json;

/// The bytes of a file; on an error, throws naming `who`, the file and the reason.
std::string read_file(const std::string& who, const std::filesystem::path& path);
/// Its lines, ended by \n or \r\n.
std::vector<std::string> read_lines(const std::string& who, const std::filesystem::path& path);
/// Also throws for invalid JSON, with the position, and if an object has the same key twice.
Json read_json(const std::string& who, const std::filesystem::path& path);
/// Writes a file atomically.
void write_file(const std::string& who, const std::filesystem::path& path, std::string_view bytes);

/// Whether there is such a file or folder; throws naming `who` if the system cannot tell.
bool exists(const std::string& who, const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);  // also false if the system cannot tell

/// A path for messages.
std::string named(const std::filesystem::path& path);
/// Text as a JSON string in quotes, for messages and files.
std::string json_quoted(std::string_view text);

}  // namespace gradus::text::detail
