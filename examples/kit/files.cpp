#include "kit/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "gradus/core/format.h"
#include "kit/descriptor.h"

namespace gradus::kit {
namespace {

// Removes the temporary file unless it was renamed.
struct TemporaryFile {
  std::filesystem::path path;
  bool renamed = false;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!renamed) std::filesystem::remove(path, ignored);
  }
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail_with("read_file: {} is a folder, expected a file", path.string());
  }
  const Descriptor file("read_file", path, O_RDONLY);
  std::string bytes;
  std::string chunk(1 << 16, '\0');
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with("read_file: cannot read {}: {}", path.string(), std::strerror(errno));
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

void replace_file(const std::filesystem::path& path, std::string_view bytes) {
  // The process number keeps two programs that write the same file apart.
  TemporaryFile temporary{path.string() + "." + std::to_string(::getpid()) + ".tmp"};
  {
    const Descriptor file("replace_file", temporary.path, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_all(bytes);
    file.sync();
  }
  std::error_code error;
  std::filesystem::rename(temporary.path, path, error);
  if (error) fail_with("replace_file: cannot replace {}: {}", path.string(), error.message());
  temporary.renamed = true;
  Descriptor("replace_file", folder_of(path), O_RDONLY | O_DIRECTORY).sync();  // makes the rename last
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_with("make_folder: cannot create {}: {}", path.string(), error.message());
}

}  // namespace gradus::kit
