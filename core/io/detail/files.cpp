#include "gradus/core/io/detail/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/system_calls.h"

namespace gradus::io {

namespace fs = std::filesystem;

namespace {

/// Bytes of the character at the front of `text`, 0 when it is not to be shown: not UTF-8, or a control
/// character.
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || count > text.size()) return 0;
  for (std::size_t i = 1; i < count; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  const unsigned second = byte(1);
  const bool control = first == 0xc2 && second < 0xa0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return control || overlong || no_character ? 0 : count;
}

}  // namespace

std::string quote(const std::string& text) {
  std::string result = "'" + text.substr(0, 80);
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result + (text.size() > 80 ? "...'" : "'");
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t count = shown_bytes(text);
    count == 0 ? result += '?' : result += text.substr(0, count);
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  return result;
}

InputFile::InputFile(const char* op, const std::string& path) : label_(label_of(op, path)) {
  // Not blocking: a pipe of that name must not hang the program.
  descriptor_ = open_file(path, O_RDONLY | O_NONBLOCK);
  check(descriptor_ >= 0, "{}: cannot open: {}", label_, std::strerror(errno));
  struct stat status = {};
  const int failed = fstat(descriptor_, &status) != 0 ? errno : 0;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  close(descriptor_);  // a constructor that throws has no destructor
  if (failed != 0) fail_with("{}: cannot open: {}", label_, std::strerror(failed));
  fail_with("{}: is {}, expects a file", label_, kind_of(status.st_mode));
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

void make_folder(const char* op, const std::string& folder) {
  const std::string label = label_of(op, folder);
  std::vector<fs::path> missing;
  std::error_code error;
  fs::path above = fs::absolute(folder, error);
  while (!error && !fs::exists(above, error) && above.has_relative_path()) {
    missing.push_back(above);
    above = above.parent_path();
  }
  fs::create_directories(folder, error);
  // What exists already need not be a folder.
  if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  check(!error, "{}: cannot make the folder: {}", label, error.message());
  for (const fs::path& made : missing) flush_folder(label, made.parent_path().string());
}

void flush_folder(const std::string& label, const std::string& folder) {
  const int descriptor = open_file(folder, O_RDONLY | O_DIRECTORY);
  // Not every file system can flush a folder; one that cannot answers EINVAL and no more can be done.
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
  check(errno == 0, "{}: cannot read the folder: {}", label_of(op, folder), std::strerror(errno));
  return names;
}

}  // namespace gradus::io
