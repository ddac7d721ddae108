#pragma once
// Whole files: read one, or replace one so that a reader never sees half of it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace gradus::kit {

/// The bytes of a file. Throws naming `who`, the file and the reason (missing, a folder, a device, not
/// readable).
std::string read_file(const std::filesystem::path& path, const char* who = "read_file");
/// The same, also for a pipe, which is read to its end: `--text <(zcat book.gz)`.
std::string read_file_or_pipe(const std::filesystem::path& path, const char* who = "read_file");

/// Makes `path` hold `bytes`: writes a temporary file in the same folder, syncs it to disk and renames it, so
/// that after a crash the old or the new content is there, never a part. Permissions stay, links are
/// followed, and what is no file (a device, a pipe) is never replaced. Throws naming the file and the reason;
/// the old content is then untouched.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws, naming `who`, what writing so many bytes to `path` would throw now: its folder is missing, the
/// disk is full, ... Leaves everything as it is.
/// `try_output("--save", options.save, 4 * model.num_parameters());`
void try_output(const char* who, const std::filesystem::path& path, std::uint64_t bytes = 1);

/// True when both names stand for the same file, also for one that is still to be made.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Creates a folder and those above it; throws naming it when that is not possible.
void make_folder(const std::filesystem::path& path);

}  // namespace gradus::kit
