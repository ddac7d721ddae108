#include "gradus/kit/data/image_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/detail/png.h"
#include "gradus/kit/data/files.h"

namespace gradus::kit {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

/// From [H, W, C], as in files, to [C, H, W].
template <class T>
Tensor planes_of(const std::vector<T>& values, std::int64_t channels, std::int64_t height, std::int64_t width,
                 float largest) {
  const Tensor image = zeros({channels, height, width}, f32);
  const std::span<float> to = image.mutable_span<float>();
  const auto depth = static_cast<std::size_t>(channels), plane = to.size() / depth;
  for (std::size_t c = 0; c < depth; ++c)
    for (std::size_t i = 0; i < plane; ++i)
      to[c * plane + i] = static_cast<float>(values[i * depth + c]) / largest;
  return image;
}

/// Netpbm's formats PGM and PPM: P2 and P3 in digits, P5 and P6 in bytes.
class NetpbmReader {
 public:
  NetpbmReader(std::string_view bytes, std::string who)
      : kind_(bytes[1]), rest_(bytes.substr(2)), who_(std::move(who)) {}

  Tensor read() {
    const std::int64_t channels = kind_ == '3' || kind_ == '6' ? 3 : 1;
    const std::int64_t width = number("width", most_pixels), height = number("height", most_pixels);
    const std::int64_t largest = number("largest value", 65535);
    check_input(width > 0 && height > 0 && largest > 0,
                "{}: expects a width, a height and a largest value above 0, got {}, {} and {}", who_, width,
                height, largest);
    check_input(width * height <= most_pixels, "{}: is {} x {}; expects at most {} pixels", who_, width,
                height, most_pixels);
    const bool digits = kind_ == '2' || kind_ == '3';
    const auto count = static_cast<std::size_t>(channels * width * height);
    const std::size_t size = digits ? 2 : largest > 255 ? 2 : 1;  // a digit and a blank, or bytes
    if (!digits && !rest_.empty()) rest_.remove_prefix(1);        // one blank ends the header
    check_input(rest_.size() + (digits ? 1 : 0) >= count * size,
                "{}: is cut short: {} bytes cannot hold {} values", who_, rest_.size(), count);
    check_input(digits || rest_.size() == count * size,
                "{}: has {} bytes after its image; expects one image in a file", who_,
                rest_.size() - count * size);
    std::vector<std::uint16_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t value = digits      ? number("value", 65535)
                                 : size == 2 ? byte_at(rest_, 2 * i) * 256 + byte_at(rest_, 2 * i + 1)
                                             : byte_at(rest_, i);
      check_input(value <= largest, "{}: value {} is {}; the largest is {} by the header", who_, i + 1, value,
                  largest);
      values[i] = static_cast<std::uint16_t>(value);
    }
    return planes_of(values, channels, height, width, static_cast<float>(largest));
  }

 private:
  /// The next whole number, after blanks and comments.
  std::int64_t number(const char* what, std::int64_t largest) {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    while (!rest_.empty() && (rest_[0] == '#' || blanks.find(rest_[0]) != std::string_view::npos))
      rest_.remove_prefix(rest_[0] == '#' ? std::min(rest_.find('\n'), rest_.size()) : 1);
    std::int64_t value = -1;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && value <= largest) {
      value = 10 * std::max<std::int64_t>(value, 0) + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    check_input(value >= 0, "{}: expects a number as its {}, got {}", who_, what,
                rest_.empty() ? "the end of the file" : io::quote(std::string(rest_.substr(0, 1))));
    check_input(value <= largest, "{}: its {} is above {}", who_, what, largest);
    return value;
  }

  char kind_;
  std::string_view rest_;
  std::string who_;
};

}  // namespace

Tensor read_image(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, "read_image");
  const std::string who = "read_image: " + io::printable(path.string());
  if (is_png(bytes)) {
    const Pixels pixels = from_png(bytes, who);
    return planes_of(pixels.values, pixels.channels, pixels.height, pixels.width, 255);
  }
  check_input(bytes.size() >= 2 && bytes[0] == 'P' && std::string_view("2356").find(bytes[1]) < 4,
              "{}: is not a PNG, PGM (P2, P5) or PPM (P3, P6) file; convert it to PNG", who);
  return NetpbmReader(bytes, who).read();
}

}  // namespace gradus::kit
