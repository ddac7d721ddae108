// AtomicFile, saving beyond plain write and rename, and what it shares with other writers of files.
//
// A temporary file is locked while it is written. An unlocked one was left by a killed program, and the next
// save in its folder removes it.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/platform.h"
#include "gradus/core/io/detail/system_calls.h"
#include "gradus/core/io/printable.h"

namespace gradus::io {

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows

/// The file a path resolves to, so writing through a link does not replace the link. A dangling link resolves
/// to its missing target, as for any program that opens a new file.
std::string target_of(const std::string& label, const std::string& path) {
  fs::path target = path;
  std::error_code ignored;
  for (int i = 0; fs::is_symlink(target, ignored); ++i) {
    check_input(i < kMostLinks, "{}: symbolic links lead in a circle", label);
    const fs::path next = fs::read_symlink(target, ignored);
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Another descriptor of a file: its lock outlives the first one.
struct Held {
  int descriptor;
  ~Held() {
    if (descriptor >= 0) close(descriptor);
  }
};

// Under emscripten flock() locks nothing and always succeeds: all files would look abandoned.
#ifdef __EMSCRIPTEN__
constexpr bool kLocksHold = false;
#else
constexpr bool kLocksHold = true;
#endif

/// What cannot be removed waits for the next save.
void remove_leftovers(const std::string& folder) {
  try {
    for (const std::string& name : names_in("save", folder)) {
      if (!kLocksHold || !name.starts_with(kTemporaryPrefix)) continue;
      const std::string path = folder + "/" + name;
      const int file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
      if (file < 0) continue;
      struct stat status = {};
      if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0)
        unlink(path.c_str());
      close(file);
    }
  } catch (const std::exception&) {
  }
}

}  // namespace

struct AtomicFile::Old {
  bool exists = false;
  struct stat status = {};
};

AtomicFile::AtomicFile(const char* op, const std::string& path)
    : label_(label_of(op, path)), path_(target_of(label_, path)), folder_(folder_of(path_)) {
  const Old old = look_at_old_file();
  remove_leftovers(folder_);
  create(old.exists ? 0600 : 0666);  // until it has its mode, no other user may read the new file
  // Nothing below throws: a constructor that throws has no destructor.
  if (!old.exists) return;
  mode_t mode = old.status.st_mode & 0777;
  if (fchown(descriptor_, old.status.st_uid, old.status.st_gid) != 0 &&
      fchown(descriptor_, static_cast<uid_t>(-1), old.status.st_gid) != 0)
    mode = (mode & 0707) | (mode & 7) << 3;  // this group is another: it may do what everybody may
  fchmod(descriptor_, mode);                 // fails where files have no permissions
}

AtomicFile::Old AtomicFile::look_at_old_file() const {
  Old old;
  old.exists = stat(path_.c_str(), &old.status) == 0;
  if (!old.exists && errno != ENOENT) fail_here("cannot write");
  if (!old.exists) return old;
  check_input(S_ISREG(old.status.st_mode),
              "{}: is {}, which saving would replace: expects a file or a new name", label_,
              kind_of(old.status.st_mode));
  check_input(!platform::system().is_mount_point(path_.c_str()),
              "{}: is a mount point, which cannot be replaced: mount its folder instead", label_);
  // A rename checks only the folder's permissions, which would bypass the file's own.
  if (faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail_here("cannot write");
  return old;
}

void AtomicFile::create(unsigned mode) {
  static std::atomic<unsigned> counter{0};
  for (;;) {  // a name left by a killed program with our process number is passed over
    temporary_ = fmt::format("{}/{}{}-{}", folder_, kTemporaryPrefix, getpid(), counter.fetch_add(1));
    descriptor_ = open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) fail_here("cannot create a file in its folder");
    retrying([&] { return flock(descriptor_, LOCK_EX); });
    struct stat status = {};
    if (fstat(descriptor_, &status) != 0 || status.st_nlink > 0) return;
    close(descriptor_);  // another save took it for a leftover before it was locked
  }
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

void AtomicFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  errno = platform::system().reserve(descriptor_, bytes);
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail_here("cannot write");
}

void AtomicFile::commit() {
  if (retrying([&] { return fsync(descriptor_); }) != 0) fail_here("cannot write to disk");
  look_at_old_file();  // it may have come while this one was written
  // Some file systems report a failed write only here. A descriptor is gone even when close fails.
  const Held lock{fcntl(descriptor_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};  // until it has its name
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_here("cannot write to disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_here("cannot take its name");
  temporary_.clear();
  flush_folder(label_, folder_);
}

void AtomicFile::fail_here(const char* what) const {
  const int reason = errno;
  fail_input_with("{}: {}: {}", label_, what, std::strerror(reason));
}

void try_output(const char* op, const std::string& path, std::uint64_t bytes) {
  AtomicFile(op, path).reserve(bytes);
}

bool exists(std::string_view op, const std::string& path) {
  std::error_code error;
  const bool found = fs::exists(path, error);
  check_input(!error, "{}: cannot look at {}: {}", op, printable(path), error.message());
  return found;
}

int open_file(const std::string& path, int flags, unsigned mode) {
  const int descriptor = retrying([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); });
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return higher;
}

void make_folder(const char* op, const std::string& folder) {
  const std::string label = label_of(op, folder);
  std::vector<fs::path> missing;
  std::error_code error;
  fs::path above = fs::absolute(folder, error);
  // never run: the loop ends at "/", which exists
  while (!error && !fs::exists(above, error) && above.has_relative_path()) {
    missing.push_back(above);
    above = above.parent_path();
  }
  fs::create_directories(folder, error);
  // create_directories() may succeed where a file has this name.
  // never run: libstdc++ reports such a file as an error
  if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  check_input(!error, "{}: cannot make the folder: {}", label, error.message());
  for (const fs::path& made : missing) flush_folder(label, made.parent_path().string());
}

}  // namespace gradus::io
