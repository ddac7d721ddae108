#pragma once
// Whole files: read one, or replace one so that a reader never sees half of it.

#include <filesystem>
#include <string>
#include <string_view>

namespace gradus::kit {

/// The bytes of a file. Throws naming the file and the reason (missing, a folder, not readable).
std::string read_file(const std::filesystem::path& path);

/// Makes `path` hold `bytes`: writes a temporary file in the same folder, syncs it to disk and renames it, so
/// that after a crash the old or the new content is there, never a part. Throws naming the file and the
/// reason; the old content is then untouched.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Creates a folder and those above it; throws naming it when that is not possible.
void make_folder(const std::filesystem::path& path);

}  // namespace gradus::kit
