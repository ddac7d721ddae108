#include "gradus/kit/program/detail/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"

namespace gradus::kit {

Descriptor::Descriptor(std::string_view who, const std::filesystem::path& path, int flags, unsigned mode)
    : who_(who), path_(path) {
  descriptor_ = io::open_file(path.string(), flags, mode);
  if (descriptor_ < 0) fail("cannot open");
}

void Descriptor::fail(std::string_view what) const {
  fail_input_with("{}: {} {}: {}", who_, what, io::printable(path_.string()), std::strerror(errno));
}

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : who_(std::move(other.who_)),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(who_, other.who_);
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void Descriptor::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace gradus::kit
