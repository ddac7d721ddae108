#pragma once
// What tokenizers are read from and written to.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::text::detail {

using Json = nlohmann::json;

[[noreturn]] void not_utf8(const std::string& who);  // for json_text()

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
/// JSON for a file; throws where a string is not UTF-8, which JSON cannot hold.
template <class AnyJson>
std::string json_text(const std::string& who, const AnyJson& json, int indent = -1) {
  try {
    return json.dump(indent);
  } catch (const Json::exception&) {
    not_utf8(who);
  }
}

}  // namespace gradus::text::detail
