#pragma once
// Arrays as the bytes of a file: row-major, little endian.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gradus/core/array/array.h"
#include "gradus/core/io/detail/input_file.h"

namespace gradus::io {

/// Bytes of such an array; nothing if shape or strides do not fit in 63 bits.
std::optional<std::uint64_t> bytes_of(const Shape& shape, DType dtype);

/// A number type in files, and the dtype it becomes. Narrow integers are only read, and widened exactly.
struct FileType {
  std::string_view name;  // the format's name for it
  DType dtype = DType::f32;
  std::uint64_t bytes = size_of(dtype);  // of one number
  // Widens `count` narrow values, which lie at the end of the memory the wide ones fill; null: already wide.
  void (*widen)(const char* narrow, char* wide, std::uint64_t count) = nullptr;
};

template <class T>  // an integer narrower than i64
void widen_integers(const char* narrow, char* wide, std::uint64_t count);
template <class T>  // BFloat16 or Float16, which become f32
void widen_halves(const char* narrow, char* wide, std::uint64_t count);

/// Bytes of such values in a file; nothing if those in memory do not fit in 63 bits.
std::optional<std::uint64_t> bytes_in_file(const Shape& shape, const FileType& type);

/// A new array read from `offset` on. The caller has checked bytes_in_file() against the file. Throws, with
/// `label` in front, if a bool is neither 0 nor 1. Allocates only the array.
Array read_array(const InputFile& file, const std::string& label, std::uint64_t offset, const Shape& shape,
                 const FileType& type);

void write_array(AtomicFile& file, const Array& array);

}  // namespace gradus::io
