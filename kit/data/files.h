#pragma once
// Reads whole files, and replaces files atomically.

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

/// The bytes of a file. On an error, throws naming `who`, the file and the reason (missing, a folder, a
/// device, not readable, larger than memory).
std::string read_file(const std::filesystem::path& path, const char* who = "read_file");
/// The same, also for a pipe, which is read to its end: `--text <(zcat book.gz)`. Throws when the pipe has
/// more than `pipe_bytes`, because it may never end.
std::string read_file_or_pipe(const std::filesystem::path& path, const char* who = "read_file",
                              std::size_t pipe_bytes = std::size_t{1} << 30);

/// Replaces the contents of `path` by `bytes`: writes a temporary file in the same folder, syncs it to disk
/// and renames it, so that after a crash the file has the old or the new contents, never a part. Keeps
/// permissions, follows links, and never replaces a device or a pipe. On an error, throws naming the file and
/// the reason; the old contents are not changed.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws, naming `who`, if writing this many bytes to `path` would fail now: its folder is missing, the disk
/// is full, ... Changes nothing.
/// `try_output("--save", options.save, 4 * model.num_parameters());`
void try_output(const char* who, const std::filesystem::path& path, std::uint64_t bytes = 1);

/// True when both names refer to the same file, also if it does not exist yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// True when a file is in a folder, at any depth, also if one of them does not exist yet.
bool is_within(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Creates a folder and its parents; throws naming it if that fails.
void make_folder(const std::filesystem::path& path);

/// Throws, naming `who`, if an output folder is not a folder or contains anything except `names`, so that no
/// program mixes its files with those of another. A missing folder is accepted.
/// `expect_nothing_else("--save", options.save);`
void expect_nothing_else(const char* who, const std::filesystem::path& folder,
                         const std::vector<std::string>& names = {});

/// Makes an output folder and its parents. The destructor removes those it made that are still empty, for
/// example after an error: `const kit::OutputFolder folder(options.save);`
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
