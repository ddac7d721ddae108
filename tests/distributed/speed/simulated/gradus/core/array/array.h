#pragma once
// In place of gradus's Array when the communication runs on simulated ranks: sizes without data. A thousand
// ranks with the gradients of a large model fit into one process, since all arrays lie in one region that
// nobody reads; a sum takes the time that its bytes take in memory.

#include <cstdint>
#include <initializer_list>

#include "gradus/core/dtype.h"

namespace gradus {

/// Seconds of a rank's time, spent by computing.
void spend(double seconds);
/// Memory for all arrays, that grows to this many bytes.
std::byte* region(std::size_t bytes);
/// Bytes per second that a sum reads and writes.
double& memory_speed();

class Array {
 public:
  Array() = default;
  static Array empty(std::initializer_list<std::int64_t> shape, DType dtype, const char* = nullptr) {
    return Array(0, *shape.begin(), dtype);
  }

  DType dtype() const { return dtype_; }
  std::int64_t numel() const { return numel_; }
  const void* raw() const { return region(bytes(offset_ + numel_)) + bytes(offset_); }
  Array slice(int, std::int64_t begin, std::int64_t end) const {
    return Array(offset_ + begin, end - begin, dtype_);
  }
  /// Reads two arrays and writes one.
  void add_(const Array& other) { spend(3.0 * static_cast<double>(bytes(other.numel_)) / memory_speed()); }

 private:
  Array(std::int64_t offset, std::int64_t numel, DType dtype)
      : offset_(offset), numel_(numel), dtype_(dtype) {}
  std::size_t bytes(std::int64_t n) const { return static_cast<std::size_t>(n) * size_of(dtype_); }

  std::int64_t offset_ = 0, numel_ = 0;
  DType dtype_ = f32;
};

}  // namespace gradus
