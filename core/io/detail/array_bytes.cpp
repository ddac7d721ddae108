#include "gradus/core/io/detail/array_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gradus/core/detail/format.h"

namespace gradus::io {

static_assert(std::endian::native == std::endian::little, "gradus writes memory as it is: little endian");

std::optional<std::uint64_t> bytes_of(const Shape& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return std::nullopt;
  return shape.contains(0) ? 0 : static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> bytes_in_file(const Shape& shape, const FileType& type) {
  const auto memory = bytes_of(shape, type.dtype);
  if (!memory) return std::nullopt;
  return *memory / size_of(type.dtype) * type.bytes;
}

namespace {

/// wide[i] = widened(narrow[i]), from the first on: number i is read before its memory is written.
template <class Narrow, class F>
void widen_each(const char* narrow, char* wide, std::uint64_t count, const F& widened) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Narrow value;
    std::memcpy(&value, narrow + i * sizeof value, sizeof value);
    const auto result = widened(value);
    std::memcpy(wide + i * sizeof result, &result, sizeof result);
  }
}

}  // namespace

template <class T>
void widen_integers(const char* narrow, char* wide, std::uint64_t count) {
  widen_each<T>(narrow, wide, count, [](T value) { return std::int64_t{value}; });
}
template void widen_integers<std::int8_t>(const char*, char*, std::uint64_t);
template void widen_integers<std::int16_t>(const char*, char*, std::uint64_t);
template void widen_integers<std::int32_t>(const char*, char*, std::uint64_t);
template void widen_integers<std::uint8_t>(const char*, char*, std::uint64_t);
template void widen_integers<std::uint16_t>(const char*, char*, std::uint64_t);
template void widen_integers<std::uint32_t>(const char*, char*, std::uint64_t);

template <class T>
void widen_halves(const char* narrow, char* wide, std::uint64_t count) {
  widen_each<T>(narrow, wide, count, [](T value) { return static_cast<float>(value); });
}
template void widen_halves<BFloat16>(const char*, char*, std::uint64_t);
template void widen_halves<Float16>(const char*, char*, std::uint64_t);

Array read_array(const InputFile& file, const std::string& label, std::uint64_t offset, const Shape& shape,
                 const FileType& type) {
  const Array array = Array::empty(shape, type.dtype);
  char* const memory = static_cast<char*>(const_cast<void*>(array.raw()));  // no one else has a handle
  const auto count = static_cast<std::uint64_t>(array.numel());
  char* const stored = memory + count * (size_of(type.dtype) - type.bytes);
  file.read(offset, stored, count * type.bytes);
  if (type.widen) type.widen(stored, memory, count);
  if (type.dtype == boolean) {  // a C++ bool holds nothing but 0 and 1
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory);
    const auto* const bad = std::find_if(bytes, bytes + count, [](unsigned char b) { return b > 1; });
    check_input(bad == bytes + count, "{}: element {} is not a bool: expects a byte of 0 or 1", label,
                bad - bytes);
  }
  return array;
}

void write_array(AtomicFile& file, const Array& array) {
  const Array dense = array.contiguous();
  file.write(dense.raw(), static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype()));
}

}  // namespace gradus::io
