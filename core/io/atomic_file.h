#pragma once
// Atomic file writes, for saving and for programs that write their own files.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::io {

/// A file that takes its name only once it is complete and on disk: written under another name in the same
/// folder, then renamed. Whatever happens before the rename, the old file of that name is untouched.
///
/// A symbolic link is followed, even one whose file does not exist yet. An old file keeps its permissions,
/// and its owner if this process may change owners; a new file's permissions follow the umask. Folders,
/// devices, pipes and sockets, which a rename would replace, are rejected, and so are files this process may
/// not write.
///
///     io::AtomicFile file("save_table", "table.csv");  // messages start with "save_table: table.csv"
///     file.write(text.data(), text.size());
///     file.commit();
class AtomicFile {
 public:
  AtomicFile(const char* op, const std::string& path);
  ~AtomicFile();  // without commit(): leaves nothing behind
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);
  /// Throws if the disk lacks room for so many bytes, where the file system can tell.
  void reserve(std::uint64_t bytes);
  /// Flushes to disk, takes the name, flushes the folder.
  void commit();

 private:
  [[noreturn]] void fail_here(const char* what) const;
  struct Old;
  Old look_at_old_file() const;
  void create(unsigned mode);

  std::string label_, path_, folder_, temporary_;
  int descriptor_ = -1;
};

/// Whether there is anything under this path; throws where the system cannot tell: "op: cannot look at PATH:
/// Permission denied".
bool exists(std::string_view op, const std::string& path);

/// Throws what saving so many bytes under this path would throw now, and changes nothing.
void try_output(const char* op, const std::string& path, std::uint64_t bytes);

/// Creates a folder and its parents, durably.
void make_folder(const char* op, const std::string& folder);

/// open(2), closed in child programs. Never 0, 1 or 2: a program that was started with its stderr closed
/// would write messages into the file. On failure negative, with errno.
int open_file(const std::string& path, int flags, unsigned mode = 0);

}  // namespace gradus::io
