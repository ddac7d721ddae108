#pragma once
// Files that are read safely and written whole or not at all (internal).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::io {

/// `text` for a message: in quotes, cut short, plain ASCII. Names in files are not ours.
std::string quote(const std::string& text);

/// `text`, a path most likely, for a message: control characters and what is not UTF-8 become '?'.
std::string printable(std::string_view text);

/// A regular file opened for reading. Messages start with `op: path: `.
class InputFile {
 public:
  InputFile(const char* op, const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Reads bytes [offset, offset + count), which the caller has checked to lie inside.
  void read(std::uint64_t offset, void* to, std::uint64_t count) const;
  /// "load_npy: weights.npy": how messages about this file start.
  const std::string& label() const { return label_; }

 private:
  std::string label_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A file that takes its name only once it is complete and on disk: written under another name in the same
/// folder, then renamed. Whatever happens before that renaming, the old file of that name stays as it was.
///
/// A symbolic link is followed, also one whose file is still to be made. An old file's permissions stay, and
/// its owner where this process may give files away; a new file gets those of the umask. Refused are folders,
/// devices, pipes and sockets, which a rename would replace, and files this process may not write.
class AtomicFile {
 public:
  AtomicFile(const char* op, const std::string& path);
  ~AtomicFile();  // without commit(): nothing is left
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

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

/// Throws what saving so many bytes under this path would throw now, and leaves everything as it is.
void try_output(const char* op, const std::string& path, std::uint64_t bytes);

/// Makes a folder and those above it, durably.
void make_folder(const char* op, const std::string& folder);

/// Makes changes to a folder's entries (new names, renames) durable.
void flush_folder(const std::string& label, const std::string& folder);

/// Names of what a folder holds; none when it does not exist. `op` starts messages.
std::vector<std::string> names_in(const char* op, const std::string& folder);

/// How AtomicFile's temporary names start: what a killed program leaves behind, until the next save in the
/// same folder removes it.
inline constexpr const char* kTemporaryPrefix = ".gradus-tmp-";

}  // namespace gradus::io
