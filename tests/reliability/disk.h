#pragma once
// A disk that loses power, and calls that fail. This program's own open(), write(), fsync(), ... replace the
// C library's, so the library under test calls them.

#include <cstddef>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gradus::test {

/// What becomes of calls whose results were not flushed when power goes.
enum class Loss {
  all,   // none of them has happened
  none,  // all of them have
  some,  // any of them, in any order; a write may be torn or leave zeros
};

/// The calls that this thread makes on the files of a folder, while it lives. What the folder holds before is
/// on disk. One at a time.
class Recording {
 public:
  explicit Recording(std::filesystem::path folder);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::size_t calls() const { return calls_.size(); }
  /// Makes `to` the folder after a loss of power behind the first so many calls.
  void replay(std::size_t calls, const std::filesystem::path& to, Loss loss, std::mt19937& random) const;

  struct Call {
    enum Kind { create, write, cut, flush, rename, remove, flush_folder } kind;
    int file = -1;              // of create, write, cut, flush, rename, remove
    std::string name, to = {};  // of create, remove; rename
    std::size_t at = 0;         // of write; the size of cut
    std::string bytes = {};
  };
  // For the calls themselves.
  void opened(int descriptor, const std::string& path, int flags, bool existed);
  void written(int descriptor, const std::string& bytes, std::size_t at);
  void resized(int descriptor, std::size_t size);
  void flushed(int descriptor);
  void closed(int descriptor);
  void renamed(const std::string& from, const std::string& to);
  void removed(const std::string& path);
  bool has(const std::string& path) const;

 private:
  bool inside(const std::string& path, std::string& name) const;

  std::filesystem::path folder_;
  std::vector<std::string> before_;           // the contents of files that were there
  std::map<std::string, int> names_, begun_;  // now, and before
  std::map<int, int> open_;                   // files by descriptor; -1: the folder
  int files_ = 0;
  std::vector<Call> calls_;
};

/// While it lives, one call of this thread that changes files fails with this errno: the one after so many
/// others. EINTR interrupts it before anything is done; 0 cuts a write in half.
class FailingCall {
 public:
  FailingCall(int others, int error);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
  bool struck() const;
};

}  // namespace gradus::test
