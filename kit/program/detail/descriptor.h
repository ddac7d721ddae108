#pragma once
// Descriptor: a file descriptor that closes itself, with complete writes.

#include <filesystem>
#include <string>
#include <string_view>

namespace gradus::kit {

class Descriptor {
 public:
  /// open(2) with close-on-exec, never as descriptor 0, 1 or 2; throws "`who`: cannot open PATH: reason".
  Descriptor(std::string_view who, const std::filesystem::path& path, int flags, unsigned mode = 0666);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }
  /// Throws "`who`: `what` PATH: reason", with the reason from errno.
  [[noreturn]] void fail(std::string_view what) const;
  /// Writes all bytes, continuing after interruptions and short writes; on an error, throws naming the file.
  void write_all(std::string_view bytes) const;

 private:
  std::string who_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace gradus::kit
