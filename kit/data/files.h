#pragma once
// Whole files: read one, or replace one so that a reader never sees half of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

class Descriptor;

/// The bytes of a file. Throws naming `who`, the file and the reason (missing, a folder, a device, not
/// readable, larger than memory).
std::string read_file(const std::filesystem::path& path, const char* who = "read_file");
/// The same, also for a pipe, which is read to its end: `--text <(zcat book.gz)`. Throws when the pipe gives
/// more than `pipe_bytes`, since it may never end.
std::string read_file_or_pipe(const std::filesystem::path& path, const char* who = "read_file",
                              std::size_t pipe_bytes = std::size_t{1} << 30);

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

/// True when a file is in a folder, at any depth, also where one of them is still to be made.
bool is_within(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Creates a folder and those above it; throws naming it when that is not possible.
void make_folder(const std::filesystem::path& path);

/// Throws, naming `who`, where a folder to be written into is no folder, or holds anything but `names`: no
/// program writes among the files of another. One that is still to be made is fine.
/// `expect_nothing_else("--save", options.save);`
void expect_nothing_else(const char* who, const std::filesystem::path& folder,
                         const std::vector<std::string>& names = {});

/// A folder that is made, with those above it, for what is to be written there. Where nothing is in the end,
/// because an error came first, what was made is gone again: `const kit::OutputFolder folder(options.save);`
class OutputFolder {
 public:
  explicit OutputFolder(const std::filesystem::path& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

/// Keeps other trainings out of a folder while it lives; the system frees the folder when a program dies.
/// Throws where another training has it. Without effect where the file system knows no locks.
/// `const kit::FolderLock lock(options.out);`
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  std::shared_ptr<const Descriptor> folder_;
};

}  // namespace gradus::kit
