#include "gradus/core/io/detail/array_bytes.h"

#include <algorithm>
#include <bit>

#include "gradus/core/detail/format.h"

namespace gradus::io {

static_assert(std::endian::native == std::endian::little, "gradus writes memory as it is: little endian");

std::optional<std::uint64_t> bytes_of(const Shape& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return std::nullopt;
  return shape.contains(0) ? 0 : static_cast<std::uint64_t>(bytes);
}

Array read_array(const InputFile& file, const std::string& label, std::uint64_t offset, const Shape& shape,
                 DType dtype) {
  const Array array = Array::empty(shape, dtype);
  void* const memory = const_cast<void*>(array.raw());  // nobody else has seen it
  file.read(offset, memory, bytes_of(shape, dtype).value());
  if (dtype == boolean) {  // a C++ bool holds nothing but 0 and 1
    const auto* const bytes = static_cast<const unsigned char*>(memory);
    const auto* const bad = std::find_if(bytes, bytes + array.numel(), [](unsigned char b) { return b > 1; });
    check(bad == bytes + array.numel(), "{}: element {} is not a bool: expects a byte of 0 or 1", label,
          bad - bytes);
  }
  return array;
}

void write_array(AtomicFile& file, const Array& array) {
  const Array dense = array.contiguous();
  file.write(dense.raw(), static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype()));
}

}  // namespace gradus::io
