// IDX files: a magic number, the sizes of all axes as big-endian numbers of 32 bits, and the values.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/gzip.h"
#include "gradus/kit/data/image_files.h"

namespace gradus::kit {
namespace {

/// What an IDX file of bytes contains.
struct IdxContents {
  Shape shape;
  std::string bytes;  // header and values
  std::size_t header = 0;

  std::uint8_t value(std::size_t i) const { return static_cast<std::uint8_t>(bytes[header + i]); }
};

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value * 256 + static_cast<unsigned char>(c);
  return value;
}

/// `other` reads files with another number of axes.
IdxContents read_idx(const std::filesystem::path& path, const char* reader, const char* other, int axes) {
  const std::string who = fmt::format("{}: {}", reader, io::printable(path.string()));
  IdxContents idx{
      .shape = {}, .bytes = read_file(path, reader), .header = 4 + 4 * static_cast<std::size_t>(axes)};
  if (is_gzip(idx.bytes)) idx.bytes = unzipped(idx.bytes, who);
  const std::string_view bytes = idx.bytes;
  check_input(bytes.size() >= 4, "{}: is cut short: it has {} bytes", who, bytes.size());
  const std::uint64_t magic = big_endian(bytes);
  const auto wanted = static_cast<std::uint64_t>(0x800 + axes);  // 8: unsigned bytes
  check_input(magic != 0x804 - static_cast<std::uint64_t>(axes), "{}: is a file for {}, not for {}", who,
              other, reader);
  check_input(magic == wanted,
              "{}: expects an IDX file of bytes, which begins with {:08x}, got one that begins with {:08x}; "
              "is it the right file?",
              who, wanted, magic);
  check_input(bytes.size() >= idx.header, "{}: is cut short: it ends within its header", who);
  for (std::size_t at = 4; at < idx.header; at += 4)
    idx.shape.push_back(static_cast<std::int64_t>(big_endian(bytes.substr(at))));
  std::uint64_t item = 1;  // bytes of one of them; of three sizes below 2^32, the product may be too large
  for (int axis = 1; axis < axes; ++axis) item *= static_cast<std::uint64_t>(idx.shape[axis]);
  const std::uint64_t count = static_cast<std::uint64_t>(idx.shape[0]), size = bytes.size() - idx.header;
  check_input(count > 0 && item > 0, "{}: is empty: its header says {}", who, idx.shape);
  check_input(size % item == 0 && size / item == count,
              "{}: is {}: its header says {}, and {} bytes follow it", who,
              size / item < count ? "cut short" : "too long", idx.shape, size);
  return idx;
}

}  // namespace

Tensor read_idx_images(const std::filesystem::path& path) {
  const IdxContents idx = read_idx(path, "read_idx_images", "read_idx_labels", 3);
  const Tensor images = zeros({idx.shape[0], 1, idx.shape[1], idx.shape[2]}, f32);
  const std::span<float> to = images.mutable_span<float>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(idx.value(i)) / 255;
  return images;
}

Tensor read_idx_labels(const std::filesystem::path& path) {
  const IdxContents idx = read_idx(path, "read_idx_labels", "read_idx_images", 1);
  const Tensor labels = zeros(idx.shape, i64);
  const std::span<std::int64_t> to = labels.mutable_span<std::int64_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = idx.value(i);
  return labels;
}

}  // namespace gradus::kit
