#pragma once
// Arrays as the bytes of a file: row-major, little endian.

#include <cstdint>
#include <optional>
#include <string>

#include "gradus/core/array/array.h"
#include "gradus/core/io/detail/files.h"

namespace gradus::io {

/// Bytes such an array takes; nothing when shape or strides would not fit in 63 bits.
std::optional<std::uint64_t> bytes_of(const Shape& shape, DType dtype);

/// A new array read from `offset` on. The caller has checked bytes_of() against the file. Throws, with
/// `label` in front, where a bool is neither 0 nor 1.
Array read_array(const InputFile& file, const std::string& label, std::uint64_t offset, const Shape& shape,
                 DType dtype);

void write_array(AtomicFile& file, const Array& array);

}  // namespace gradus::io
