#include "gradus/kit/data/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/detail/descriptor.h"

namespace gradus::kit {
namespace {

const char* kind_of(const struct stat& status) {
  return S_ISDIR(status.st_mode) ? "a folder" : S_ISFIFO(status.st_mode) ? "a pipe" : "a device or a socket";
}

/// Reads at most `pipe_bytes` from a pipe; 0 rejects pipes.
std::string read(const std::filesystem::path& path, const char* who, std::size_t pipe_bytes) {
  const std::string name = io::printable(path.string());
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0)
    check_input(S_ISREG(status.st_mode) || (pipe_bytes > 0 && S_ISFIFO(status.st_mode)),
                "{}: {} is {}, expects a file", who, name, kind_of(status));
  const Descriptor file(who, path, O_RDONLY);
  std::string bytes, chunk(1 << 16, '\0');
  const auto make_room = [&](std::size_t size) {
    try {
      bytes.reserve(size);
    } catch (const std::exception&) {  // bad_alloc or length_error
      std::string().swap(bytes);
      fail_input_with("{}: {} does not fit into memory: it has {} bytes or more", who, name, size);
    }
  };
  make_room(static_cast<std::size_t>(status.st_size));
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_input_with("{}: cannot read {}: {}", who, name, std::strerror(errno));
    if (got == 0) return bytes;
    const std::size_t size = bytes.size() + static_cast<std::size_t>(got);
    check_input(!S_ISFIFO(status.st_mode) || size <= pipe_bytes,
                "{}: {} is a pipe with more than {} bytes, the limit for pipes: write them into a file", who,
                name, pipe_bytes);
    if (size > bytes.capacity()) make_room(std::max(size, 2 * bytes.capacity()));
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, const char* who) { return read(path, who, 0); }
std::string read_file_or_pipe(const std::filesystem::path& path, const char* who, std::size_t pipe_bytes) {
  return read(path, who, pipe_bytes);
}

void replace_file(const std::filesystem::path& path, std::string_view bytes) {
  io::AtomicFile file("replace_file", path.string());
  file.write(bytes.data(), bytes.size());
  file.commit();
}

void try_output(const char* who, const std::filesystem::path& path, std::uint64_t bytes) {
  io::try_output(who, path.string(), bytes);
}

/// A file's name with links resolved, also if it does not exist yet.
static std::filesystem::path full_name(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  return full_name(a) == full_name(b);
}

bool is_within(const std::filesystem::path& file, const std::filesystem::path& folder) {
  for (std::filesystem::path above = full_name(file); above.has_relative_path();) {
    above = above.parent_path();
    if (same_file(above, folder)) return true;
  }
  return false;
}

void make_folder(const std::filesystem::path& path) { io::make_folder("make_folder", path.string()); }

void expect_nothing_else(const char* who, const std::filesystem::path& folder,
                         const std::vector<std::string>& names) {
  const std::string shown = io::printable(folder.string());
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  check_input(std::filesystem::is_directory(folder, error), "{}: {} is not a folder", who, shown);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool known = name.starts_with(".gradus-tmp") ||  // left by a program that was killed
                       std::find(names.begin(), names.end(), name) != names.end();
    check_input(known, "{}: {} contains {}, which would be mixed with the output: name another folder", who,
                shown, io::quote(name));
  }
  check_input(!error, "{}: cannot look into {}: {}", who, shown, error.message());
}

OutputFolder::OutputFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path above = std::filesystem::absolute(folder, error);
  std::vector<std::filesystem::path> missing;
  for (; !error && !std::filesystem::exists(above, error); above = above.parent_path())
    missing.push_back(above);
  make_folder(folder);
  made_ = std::move(missing);
}

OutputFolder::~OutputFolder() {
  std::error_code error;  // also if it is not empty
  for (const std::filesystem::path& folder : made_)
    if (!std::filesystem::remove(folder, error) && error) return;
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_(std::make_shared<Descriptor>("FolderLock", folder, O_RDONLY | O_DIRECTORY)) {
  const bool taken = ::flock(folder_->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  check_input(!taken, "{}: another training uses this folder: wait for its end, or name another folder",
              io::printable(folder.string()));
}

}  // namespace gradus::kit
