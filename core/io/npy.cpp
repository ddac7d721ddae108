// Layout: "\x93NUMPY", 2 bytes version, 2 (version 1) or 4 (version 2) bytes header length, the header - a
// Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } - padded with spaces
// and a newline to a multiple of 64, the numbers.

#include "gradus/core/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/printable.h"

namespace gradus {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

constexpr io::FileType kTypes[] = {{"<f4", f32},
                                   {"<f8", f64},
                                   {"<i8", i64},
                                   {"|b1", boolean},
                                   {"<f2", f16},
                                   {"<i4", i64, 4, io::widen_integers<std::int32_t>},
                                   {"|u1", i64, 1, io::widen_integers<std::uint8_t>}};

const io::FileType& file_type(DType dtype) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [=](const io::FileType& type) { return type.dtype == dtype; });
}

struct Header {
  io::FileType type = kTypes[0];
  bool column_major = false;
  Shape shape;
};

/// Reads the header's dictionary: three keys in any order, each once.
class HeaderReader {
 public:
  HeaderReader(const std::string& label, std::string_view text) : label_(label), rest_(text) {}

  Header read() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted_text();
      expect(':');
      const int field = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      check_input(field < 3 && !std::exchange(seen[field], true),
                  "{}: header: key {} is unknown or appears twice", label_, io::quote(std::string(key)));
      if (field == 0) header.type = type();
      if (field == 1) header.column_major = truth();
      if (field == 2) header.shape = shape();
      if (!take(',') && !next_is('}')) wrong("',' or '}'");
    }
    check_input(seen[0] && seen[1] && seen[2], "{}: header: expects descr, fortran_order and shape", label_);
    skip_space();
    if (!rest_.empty()) wrong("nothing more");
    return header;
  }

 private:
  [[noreturn]] void wrong(const char* expected) const {
    fail_input_with("{}: header: expects {}, got {}", label_, expected,
                    io::quote(std::string(rest_.substr(0, 20))));
  }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size())); }
  bool next_is(char c) {
    skip_space();
    return rest_.starts_with(c);
  }
  bool take(char c) {
    const bool found = next_is(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }
  bool take(std::string_view word) {
    skip_space();
    const bool found = rest_.starts_with(word);
    if (found) rest_.remove_prefix(word.size());
    return found;
  }
  void expect(char c) {
    const char text[] = {'\'', c, '\'', '\0'};
    if (!take(c)) wrong(text);
  }

  std::string_view quoted_text() {
    const char quote = next_is('"') ? '"' : '\'';
    expect(quote);
    const std::size_t length = rest_.find(quote);
    if (length == std::string_view::npos) wrong("a closing quote");
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return text;
  }

  const io::FileType& type() {
    const std::string_view text = quoted_text();
    for (const io::FileType& type : kTypes)
      if (text == type.name) return type;
    fail_input_with("{}: descr {} is not one of '<f4', '<f8', '<i8', '|b1', '<f2', '<i4' and '|u1'", label_,
                    io::quote(std::string(text)));
  }

  bool truth() {
    if (take(std::string_view("True"))) return true;
    if (!take(std::string_view("False"))) wrong("True or False");
    return false;
  }

  Shape shape() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t size = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) wrong("a size");
      // Python has no such numbers, and where a language has them 010 may be 8.
      if (rest_[0] == '0' && end - rest_.data() > 1) wrong("a size without leading zeros");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      check_input(shape.size() < Dims::kMaxRank, "{}: header: expects at most {} axes", label_,
                  Dims::kMaxRank);
      shape.push_back(size);
      // (3) is a number in Python, (3,) a shape.
      if (!take(',') && (shape.size() == 1 || !next_is(')'))) wrong("','");
    }
    return shape;
  }

  const std::string& label_;
  std::string_view rest_;
};

std::string header_text(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const std::string comma = shape.size() == 1 ? "," : "";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 file_type(tensor.dtype()).name, fmt::join(shape, ", "), comma);
  const std::size_t start = kMagic.size() + 4;
  text.append(63 - (start + text.size()) % 64, ' ');
  return text + '\n';
}

}  // namespace

void save_npy(const std::string& path, const Tensor& tensor) {
  check(tensor.defined(), "save_npy: {}: the tensor is undefined", io::printable(path));
  check(tensor.dtype() != bf16,
        "save_npy: {}: NumPy has no type for the bf16 {}: convert it with .to(f32), or use save_safetensors",
        io::printable(path), tensor.shape());
  const std::string text = header_text(tensor);
  const auto length = static_cast<std::uint16_t>(text.size());  // 8 axes of 20 digits fit
  io::AtomicFile file("save_npy", path);
  file.write(kMagic.data(), kMagic.size());
  file.write("\x01\x00", 2);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  io::write_array(file, tensor.array());
  file.commit();
}

Tensor load_npy(const std::string& path) {
  const io::InputFile file("load_npy", path);
  unsigned char opening[12] = {};
  check_input(file.size() >= 10, "{}: has {} bytes, expects 10 or more", file.label(), file.size());
  file.read(0, opening, std::min<std::uint64_t>(file.size(), sizeof opening));
  check_input(std::memcmp(opening, kMagic.data(), kMagic.size()) == 0, "{}: does not start with \\x93NUMPY",
              file.label());
  const int major = opening[6], minor = opening[7];
  check_input((major == 1 || major == 2) && minor == 0, "{}: version {}.{} is not 1.0 or 2.0", file.label(),
              major, minor);
  const std::uint64_t start = major == 1 ? 10 : 12;
  std::uint64_t length = opening[8] + 256u * opening[9];
  if (major == 2) length += 65536u * opening[10] + 16777216ull * opening[11];
  check_input(start <= file.size() && length <= file.size() - start,
              "{}: header: says it has {} bytes, but the file has {} in all", file.label(), length,
              file.size());
  std::string text(length, '\0');
  file.read(start, text.data(), length);
  const Header header = HeaderReader(file.label(), text).read();
  const std::uint64_t data = file.size() - start - length;
  const io::FileType& type = header.type;
  const auto expected = io::bytes_in_file(header.shape, type);
  check_input(expected.has_value(), "{}: shape {} has more elements than memory can address", file.label(),
              header.shape);
  check_input(data == *expected, "{}: has {} bytes of data, expects {} for {} {}", file.label(), data,
              *expected, type.bytes == size_of(type.dtype) ? name(type.dtype) : type.name, header.shape);

  Shape stored = header.shape;
  if (header.column_major) std::reverse(stored.begin(), stored.end());
  const Array array = io::read_array(file, file.label(), start + length, stored, type);
  if (!header.column_major || array.dim() < 2) return Tensor(array);
  // The first axis lies closest in memory: read the axes in reverse.
  Dims axes;
  for (int axis = array.dim() - 1; axis >= 0; --axis) axes.push_back(axis);
  return Tensor(array.permute(axes).contiguous());
}

}  // namespace gradus
