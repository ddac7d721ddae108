#pragma once

#include <filesystem>
#include <functional>

namespace gradus::learn {

/// While it lives, no other process holds a lock on the same folder. If another one holds it, calls `waits`
/// first.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder, const std::function<void()>& waits = {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

}  // namespace gradus::learn
