#include "gradus/core/io/detail/input_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/system_calls.h"

namespace gradus::io {

InputFile::InputFile(const char* op, const std::string& path) : label_(label_of(op, path)) {
  // Not blocking: a pipe of that name must not hang the program.
  descriptor_ = open_file(path, O_RDONLY | O_NONBLOCK);
  check_input(descriptor_ >= 0, "{}: cannot open: {}", label_, std::strerror(errno));
  struct stat status = {};
  // never run: fstat fails only on network drives
  const int failed = fstat(descriptor_, &status) != 0 ? errno : 0;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  close(descriptor_);  // a constructor that throws has no destructor
  // never run: fstat fails only on network drives
  if (failed != 0) fail_input_with("{}: cannot open: {}", label_, std::strerror(failed));
  fail_input_with("{}: is {}, expects a file", label_, kind_of(status.st_mode));
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::uint64_t offset, void* to, std::uint64_t count) const {
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    const std::size_t part = std::min<std::uint64_t>(count, kLargestCall);
    const ssize_t done =
        retrying([&] { return pread(descriptor_, bytes, part, static_cast<off_t>(offset)); });
    check_input(done >= 0, "{}: cannot read: {}", label_, std::strerror(errno));
    check_input(done > 0, "{}: ends at byte {}, expects {} bytes more: did it change while being read?",
                label_, offset, count);
    bytes += done;
    offset += static_cast<std::uint64_t>(done);
    count -= static_cast<std::uint64_t>(done);
  }
}

void flush_folder(const std::string& label, const std::string& folder) {
  const int descriptor = open_file(folder, O_RDONLY | O_DIRECTORY);
  // Not every file system can flush a folder; one that cannot answers EINVAL and no more can be done.
  const bool failed = descriptor < 0 || (retrying([&] { return fsync(descriptor); }) != 0 && errno != EINVAL);
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (failed) fail_input_with("{}: cannot write its folder to disk: {}", label, std::strerror(reason));
}

std::vector<std::string> names_in(const char* op, const std::string& folder) {
  // Not std::filesystem's iterator: in libstdc++ it ends the program when memory runs out.
  const std::unique_ptr<DIR, decltype([](DIR* open) { closedir(open); })> entries(opendir(folder.c_str()));
  if (!entries && errno == ENOENT) return {};
  std::vector<std::string> names;
  if (entries)
    for (errno = 0; const dirent* const entry = readdir(entries.get()); errno = 0)
      names.emplace_back(entry->d_name);
  check_input(errno == 0, "{}: cannot read the folder: {}", label_of(op, folder), std::strerror(errno));
  return names;
}

}  // namespace gradus::io
