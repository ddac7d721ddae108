#include "gradus/core/io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "gradus/core/format.h"

namespace gradus::io {

namespace {

namespace fs = std::filesystem;

// One call may move at most 2 GiB on Linux.
constexpr std::size_t kLargestCall = std::size_t{1} << 30;

/// f() again for as long as a signal interrupts it.
template <class F>
auto retrying(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

/// The file a name stands for, so that writing through a link does not replace the link.
std::string resolved(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored)) return path;
  const fs::path target = fs::weakly_canonical(path, ignored);
  return target.empty() ? path : target.string();
}

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

std::string quote(const std::string& text) {
  std::string result = "'" + text.substr(0, 80);
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result + (text.size() > 80 ? "...'" : "'");
}

InputFile::InputFile(const char* op, const std::string& path) : label_(fmt::format("{}: {}", op, path)) {
  // Not blocking: a pipe of that name must not hang the program.
  descriptor_ = retrying([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  check(descriptor_ >= 0, "{}: cannot open: {}", label_, std::strerror(errno));
  struct stat status = {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  close(descriptor_);  // a constructor that throws has no destructor
  fail_with("{}: {}", label_, known && S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::uint64_t offset, void* to, std::uint64_t count) const {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    const std::size_t part = std::min<std::uint64_t>(count, kLargestCall);
    const ssize_t done =
        retrying([&] { return pread(descriptor_, bytes, part, static_cast<off_t>(offset)); });
    check(done >= 0, "{}: cannot read: {}", label_, std::strerror(errno));
    check(done > 0, "{}: ends at byte {}, expects {} bytes more: did it change while being read?", label_,
          offset, count);
    bytes += done;
    offset += static_cast<std::uint64_t>(done);
    count -= static_cast<std::uint64_t>(done);
  }
}

AtomicFile::AtomicFile(const char* op, const std::string& path)
    : label_(fmt::format("{}: {}", op, path)), path_(resolved(path)), folder_(folder_of(path_)) {
  static std::atomic<unsigned> counter{0};
  do {  // a name left by a killed program with our process number is passed over
    temporary_ = fmt::format("{}/{}{}-{}", folder_, kTemporaryPrefix, getpid(), counter.fetch_add(1));
    descriptor_ =
        retrying([&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_here("cannot create a file in its folder");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t count) {
  const auto* bytes = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t done = retrying([&] { return ::write(descriptor_, bytes, std::min(count, kLargestCall)); });
    if (done < 0) fail_here("cannot write");
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::commit() {
  if (retrying([&] { return fsync(descriptor_); }) != 0) fail_here("cannot write to disk");
  // Some file systems report a failed write only here. A descriptor is gone even when close fails.
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_here("cannot write to disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_here("cannot take its name");
  temporary_.clear();
  flush_folder(label_, folder_);
}

void AtomicFile::fail_here(const char* what) const {
  const int reason = errno;
  fail_with("{}: {}: {}", label_, what, std::strerror(reason));
}

void flush_folder(const std::string& label, const std::string& folder) {
  const int descriptor = retrying([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  // Not every file system can flush a folder; one that cannot answers EINVAL, and no more can be done.
  const bool failed = descriptor < 0 || (retrying([&] { return fsync(descriptor); }) != 0 && errno != EINVAL);
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (failed) fail_with("{}: cannot write its folder to disk: {}", label, std::strerror(reason));
}

std::vector<std::string> names_in(const char* op, const std::string& folder) {
  // Not std::filesystem's iterator: in libstdc++ it ends the program when memory runs out.
  const std::unique_ptr<DIR, decltype([](DIR* open) { closedir(open); })> entries(opendir(folder.c_str()));
  if (!entries && errno == ENOENT) return {};
  std::vector<std::string> names;
  if (entries)
    for (errno = 0; const dirent* const entry = readdir(entries.get()); errno = 0)
      names.emplace_back(entry->d_name);
  check(errno == 0, "{}: {}: cannot read the folder: {}", op, folder, std::strerror(errno));
  return names;
}

}  // namespace gradus::io
