#include "gradus/kit/data/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "gradus/core/error.h"

namespace gradus::kit {

namespace {

constexpr std::size_t kLargest = std::size_t{4} << 30;  // a small file can unpack to any size
constexpr std::size_t kPiece = 1 << 20;

/// A zlib stream that ends with its scope.
struct Inflater {
  z_stream stream{};

  explicit Inflater(const std::string& who) {
    // never run: zlib takes its memory from the C library, which cannot be made to fail here
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw Error(who + ": zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string unzipped(std::string_view bytes, const std::string& who) {
  Inflater inflater(who);
  z_stream& z = inflater.stream;
  std::string text;
  std::vector<char> piece(kPiece);
  for (int status = Z_OK; !bytes.empty() || status != Z_STREAM_END;) {
    if (status == Z_STREAM_END) inflateReset(&z);  // the next part of the file
    const std::size_t given = std::min(bytes.size(), kPiece);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(given);
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&z, Z_NO_FLUSH);
    if (status == Z_BUF_ERROR) fail_input(who + ": is cut short: it ends within its gzip data");
    if (status == Z_DATA_ERROR) fail_input(fmt::format("{}: is damaged: {}", who, z.msg));
    // never run: zlib takes its memory from the C library, which cannot be made to fail here
    if (status != Z_OK && status != Z_STREAM_END) throw Error(who + ": zlib has no memory");
    bytes.remove_prefix(given - z.avail_in);
    text.append(piece.data(), piece.size() - z.avail_out);
    // never run: needs more than 4 GB of memory
    if (text.size() > kLargest) fail_input(who + ": unpacks to more than 4 GB");
  }
  return text;
}

}  // namespace gradus::kit
