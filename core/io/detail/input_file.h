#pragma once
// Safe reading of files and folders.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/core/io/atomic_file.h"

namespace gradus::io {

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
  /// "load_npy: weights.npy": the start of messages about this file.
  const std::string& label() const { return label_; }

 private:
  std::string label_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Makes changes to a folder's entries (new names, renames) durable.
void flush_folder(const std::string& label, const std::string& folder);

/// Names of a folder's entries; none if it does not exist. `op` starts messages.
std::vector<std::string> names_in(const char* op, const std::string& folder);

/// Prefix of AtomicFile's temporary names. A killed program leaves such a file, which the next save in the
/// same folder removes.
inline constexpr const char* kTemporaryPrefix = ".gradus-tmp-";

}  // namespace gradus::io
