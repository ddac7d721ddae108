#pragma once
// Files that are written whole or not at all: what saving needs, and programs that write files of their own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::io {

/// `text`, a path most likely, for a message: control characters, those that change the direction of writing
/// and what is not UTF-8 become '?', one for each byte.
std::string printable(std::string_view text);

/// The same for a text of several lines: \n, \t and \r\n stay, and each character that must not reach a
/// terminal, or byte that is not UTF-8, becomes U+FFFD.
std::string printable_text(std::string_view text);

/// The same in quotes, cut short: what stands in a file may be anything.
std::string quote(const std::string& text);

/// A file that takes its name only once it is complete and on disk: written under another name in the same
/// folder, then renamed. Whatever happens before that renaming, the old file of that name stays as it was.
///
/// A symbolic link is followed, also one whose file is still to be made. An old file's permissions stay, and
/// its owner where this process may give files away; a new file gets those of the umask. Refused are folders,
/// devices, pipes and sockets, which a rename would replace, and files this process may not write.
///
///     io::AtomicFile file("save_table", "table.csv");  // messages start with "save_table: table.csv"
///     file.write(text.data(), text.size());
///     file.commit();
class AtomicFile {
 public:
  AtomicFile(const char* op, const std::string& path);
  ~AtomicFile();  // without commit(): nothing is left
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes; throws when the disk takes no more.
  void write(const void* bytes, std::size_t count);
  /// Throws when the disk has no room for so many bytes, where the file system can tell.
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

/// Throws what saving so many bytes under this path would throw now, and leaves everything as it is.
void try_output(const char* op, const std::string& path, std::uint64_t bytes);

/// Makes a folder and those above it, durably.
void make_folder(const char* op, const std::string& folder);

/// open(2), closed in child programs. Never 0, 1 or 2: a program that was started with its stderr closed
/// would write messages into the file. On failure negative, with errno.
int open_file(const std::string& path, int flags, unsigned mode = 0);

}  // namespace gradus::io
