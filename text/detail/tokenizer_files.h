#pragma once
// What tokenizers are read from and written to.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::text::detail {

using Json = nlohmann::json;

/// The bytes of a file; throws naming `who`, the file and the reason.
std::string read_file(const std::string& who, const std::filesystem::path& path);
/// Its lines, ended by \n or \r\n.
std::vector<std::string> read_lines(const std::string& who, const std::filesystem::path& path);
/// Throws also where it is no JSON, with the place, or an object has the same key twice.
Json read_json(const std::string& who, const std::filesystem::path& path);
/// A file that is there whole or not at all.
void write_file(const std::string& who, const std::filesystem::path& path, std::string_view bytes);

/// Whether there is such a file or folder; throws naming `who` where the system cannot tell.
bool exists(const std::string& who, const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);  // false also where the system cannot tell

/// A path as messages name it.
std::string named(const std::filesystem::path& path);
/// Text in quotes as JSON writes it, for messages and files.
std::string json_quoted(std::string_view text);

}  // namespace gradus::text::detail
