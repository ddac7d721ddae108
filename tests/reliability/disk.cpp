#include "reliability/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gradus::test {

namespace {

thread_local Recording* recording = nullptr;
thread_local int calls_left = -1;  // before the one that fails; -1: none does
thread_local int call_error = 0;
thread_local bool met = false;

/// Whether this call is the one to fail, with errno.
bool fails(bool cuts = false) {
  if (calls_left < 0 || (call_error == 0 && !cuts)) return false;
  if (calls_left-- > 0) return false;
  met = true;
  errno = call_error;
  return true;
}

}  // namespace

FailingCall::FailingCall(int others, int error) {
  met = false;
  call_error = error;
  calls_left = others;
}
FailingCall::~FailingCall() { calls_left = -1; }
bool FailingCall::struck() const { return met; }

Recording::Recording(std::filesystem::path folder) : folder_(std::move(folder)) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::ifstream file(entry.path(), std::ios::binary);
    before_.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    begun_[entry.path().filename()] = files_++;
  }
  names_ = begun_;
  recording = this;
}
Recording::~Recording() { recording = nullptr; }

bool Recording::inside(const std::string& path, std::string& name) const {
  const std::filesystem::path whole(path);
  name = whole.filename();
  return whole.parent_path() == folder_;
}
bool Recording::has(const std::string& path) const {
  std::string name;
  return inside(path, name) && names_.contains(name);
}

void Recording::opened(int descriptor, const std::string& path, int flags, bool existed) {
  std::string name;
  if (std::filesystem::path(path) == folder_) {
    open_[descriptor] = -1;
  } else if (inside(path, name)) {
    if (!existed && (flags & O_CREAT)) {
      names_[name] = files_;
      calls_.push_back({.kind = Call::create, .file = files_++, .name = name});
    } else if (existed && (flags & O_TRUNC)) {
      calls_.push_back({.kind = Call::cut, .file = names_.at(name), .name = name});
    }
    open_[descriptor] = names_.at(name);
  }
}
void Recording::written(int descriptor, const std::string& bytes, std::size_t at) {
  if (const auto file = open_.find(descriptor); file != open_.end())
    calls_.push_back({.kind = Call::write, .file = file->second, .name = {}, .at = at, .bytes = bytes});
}
void Recording::resized(int descriptor, std::size_t size) {
  if (const auto file = open_.find(descriptor); file != open_.end())
    calls_.push_back({.kind = Call::cut, .file = file->second, .name = {}, .at = size});
}
void Recording::flushed(int descriptor) {
  if (const auto file = open_.find(descriptor); file != open_.end())
    calls_.push_back(
        {.kind = file->second < 0 ? Call::flush_folder : Call::flush, .file = file->second, .name = {}});
}
void Recording::closed(int descriptor) { open_.erase(descriptor); }
void Recording::renamed(const std::string& from, const std::string& to) {
  std::string old_name, new_name;
  if (!inside(from, old_name) || !inside(to, new_name)) return;
  const int file = names_.at(old_name);
  names_.erase(old_name);
  names_[new_name] = file;
  calls_.push_back({.kind = Call::rename, .file = file, .name = old_name, .to = new_name});
}
void Recording::removed(const std::string& path) {
  std::string name;
  if (!inside(path, name) || !names_.contains(name)) return;
  calls_.push_back({.kind = Call::remove, .file = names_.at(name), .name = name});
  names_.erase(name);
}

void Recording::replay(std::size_t calls, const std::filesystem::path& to, Loss loss,
                       std::mt19937& random) const {
  std::vector<std::string> contents = before_;
  contents.resize(static_cast<std::size_t>(files_));
  std::map<std::string, int> names = begun_;
  const auto on_disk = [&](std::size_t i) {
    const Call& call = calls_[i];
    const bool of_file = call.kind == Call::write || call.kind == Call::cut;
    for (std::size_t later = i + 1; later < calls; ++later)
      if (of_file ? calls_[later].kind == Call::flush && calls_[later].file == call.file
                  : calls_[later].kind == Call::flush_folder)
        return true;
    return false;
  };
  for (std::size_t i = 0; i < calls; ++i) {
    const Call& call = calls_[i];
    const bool torn = loss == Loss::some && !on_disk(i);
    if ((loss == Loss::all && !on_disk(i)) || (torn && random() % 2 == 0)) continue;
    const auto file = static_cast<std::size_t>(call.file);
    const auto is_named = [&](const std::string& name) {
      const auto at = names.find(name);
      return at != names.end() && at->second == call.file;
    };
    switch (call.kind) {
      case Call::create:
        names[call.name] = call.file;
        break;
      case Call::rename:
        if (is_named(call.name)) names.erase(call.name);
        names[call.to] = call.file;
        break;
      case Call::remove:
        if (is_named(call.name)) names.erase(call.name);
        break;
      case Call::cut:
        contents[file].resize(call.at);
        break;
      case Call::write: {
        std::string bytes = call.bytes;
        if (torn && random() % 2 == 0) {
          const std::size_t kept = random() % (bytes.size() + 1);
          if (random() % 2 == 0)
            bytes.resize(kept);
          else
            bytes.replace(kept, std::string::npos, std::string(bytes.size() - kept, '\0'));
        }
        std::string& all = contents[file];
        if (all.size() < call.at + bytes.size()) all.resize(call.at + bytes.size());
        all.replace(call.at, bytes.size(), bytes);
        break;
      }
      case Call::flush:
      case Call::flush_folder:
        break;
    }
  }
  std::filesystem::remove_all(to);
  std::filesystem::create_directories(to);
  for (const auto& [name, file] : names)
    std::ofstream(to / name, std::ios::binary) << contents[static_cast<std::size_t>(file)];
}

}  // namespace gradus::test

using gradus::test::fails;
using gradus::test::recording;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0U;
  va_end(rest);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && fails()) return -1;
  const bool existed = recording && recording->has(path);
  const int descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (descriptor >= 0 && recording) recording->opened(descriptor, path, flags, existed);
  return descriptor;
}

ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  const bool strikes = fails(true);
  if (strikes && gradus::test::call_error != 0) return -1;
  if (strikes && count > 1) count /= 2;
  std::size_t at = 0;
  if (recording) {
    struct stat status {};
    const bool appends = fcntl(descriptor, F_GETFL) & O_APPEND;
    if (appends && fstat(descriptor, &status) == 0) at = static_cast<std::size_t>(status.st_size);
    if (!appends) at = static_cast<std::size_t>(lseek(descriptor, 0, SEEK_CUR));
  }
  const ssize_t done = syscall(SYS_write, descriptor, bytes, count);
  if (done > 0 && recording)
    recording->written(descriptor, {static_cast<const char*>(bytes), static_cast<std::size_t>(done)}, at);
  return done;
}

int fsync(int descriptor) {
  if (fails()) return -1;
  const int status = static_cast<int>(syscall(SYS_fsync, descriptor));
  if (status == 0 && recording) recording->flushed(descriptor);
  return status;
}

int close(int descriptor) {
  const int status = static_cast<int>(syscall(SYS_close, descriptor));  // the descriptor is gone either way
  if (recording) recording->closed(descriptor);
  return fails() ? -1 : status;
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (gradus::test::call_error != EINTR && fails()) return -1;
  const int status = static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
  if (status == 0 && recording) recording->resized(descriptor, static_cast<std::size_t>(size));
  return status;
}

int rename(const char* from, const char* to) noexcept {  // no signal interrupts it
  if (gradus::test::call_error != EINTR && fails()) return -1;
  const int status = static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (status == 0 && recording) recording->renamed(from, to);
  return status;
}

int unlink(const char* path) noexcept {
  const int status = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (status == 0 && recording) recording->removed(path);
  return status;
}
}
