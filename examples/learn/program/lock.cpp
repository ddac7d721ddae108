#include "learn/program/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace gradus::learn {

FolderLock::FolderLock(const std::filesystem::path& folder, const std::function<void()>& waits)
    : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // A file system without locks reports another error: then there is no lock.
  if (flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  if (waits) waits();
  while (flock(folder_, LOCK_EX) != 0 && errno == EINTR) continue;
}

FolderLock::~FolderLock() { close(folder_); }

}  // namespace gradus::learn
