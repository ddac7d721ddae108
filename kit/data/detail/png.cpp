#include "gradus/kit/data/detail/png.h"

#include <png.h>

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"

namespace gradus::kit {
namespace {

/// libpng's state, which ends with its scope.
struct PngImage {
  png_image image{};

  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  std::string message() const { return io::printable(image.message); }
};

png_uint_32 format_of(std::int64_t channels) {
  if (channels == 1) return PNG_FORMAT_GRAY;
  return channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

/// Whether a file whose header libpng has read is interlaced, with 16 bits. When some versions of libpng,
/// among them Debian's 1.6.39 of 2025, make 8 bits of these, they mix up the rows.
bool is_deep_and_interlaced(std::string_view bytes) { return bytes[24] == 16 && bytes[28] == 1; }

/// Reads the image as linear 16 bits with opacity, blends it with white and encodes it with gamma 2.2, as
/// libpng does; a value may differ from libpng's by 1.
void read_as_linear(PngImage& png, Pixels& pixels, const std::string& who) {
  png.image.format = pixels.channels == 3 ? PNG_FORMAT_LINEAR_RGB_ALPHA : PNG_FORMAT_LINEAR_Y_ALPHA;
  const auto channels = static_cast<std::size_t>(pixels.channels);
  std::vector<png_uint_16> linear(PNG_IMAGE_SIZE(png.image) / sizeof(png_uint_16));
  if (png_image_finish_read(&png.image, nullptr, linear.data(), 0, nullptr) == 0)
    fail_input_with("{}: is damaged or cut short: {}", who, png.message());
  pixels.values.reserve(linear.size() / (channels + 1) * channels);
  for (std::size_t i = 0; i < linear.size(); i += channels + 1)
    for (std::size_t c = 0; c < channels; ++c) {
      const double light = (65535.0 + linear[i + c] - linear[i + channels]) / 65535;
      pixels.values.push_back(static_cast<std::uint8_t>(std::lround(255 * std::pow(light, 1 / 2.2))));
    }
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

Pixels from_png(std::string_view bytes, const std::string& who) {
  PngImage png;
  png_image& image = png.image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    fail_input_with("{}: is damaged or cut short: {}", who, png.message());
  const bool color = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  Pixels pixels{.width = image.width, .height = image.height, .channels = color ? 3 : 1};
  const std::int64_t count = pixels.width * pixels.height;  // each below 2^31
  check_input(count <= most_pixels, "{}: is {} x {}; expects at most {} pixels", who, pixels.width,
              pixels.height, most_pixels);
  // A pixel is at least one bit, which deflate makes at most 1032 times smaller.
  check_input(static_cast<std::size_t>(count) / 8 / 1032 <= bytes.size(),
              "{}: is damaged or cut short: {} bytes cannot hold {} x {} pixels", who, bytes.size(),
              pixels.width, pixels.height);
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits are encoded like 8
  if (is_deep_and_interlaced(bytes)) {
    read_as_linear(png, pixels, who);
    return pixels;
  }
  image.format = format_of(pixels.channels);
  pixels.values.resize(PNG_IMAGE_SIZE(image));
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&image, &white, pixels.values.data(), 0, nullptr) == 0)
    fail_input_with("{}: is damaged or cut short: {}", who, png.message());
  return pixels;
}

std::string to_png(const Pixels& pixels) {
  PngImage png;
  png_image& image = png.image;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = format_of(pixels.channels);
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.values.data(), 0, nullptr) == 0)
    fail_with("kit: libpng cannot write a PNG: {}", png.message());
  bytes.resize(size);
  return bytes;
}

}  // namespace gradus::kit
