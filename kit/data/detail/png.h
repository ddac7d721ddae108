#pragma once
// PNG files in memory, by libpng.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::kit {

/// An image of 8-bit values, row by row: gray (1 channel), RGB (3) or RGB and opacity (4).
struct Pixels {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;
  std::vector<std::uint8_t> values{};  // [height, width, channels]
};

/// More pixels than this are refused before memory is allocated for them.
constexpr std::int64_t most_pixels = std::int64_t{1} << 26;

bool is_png(std::string_view bytes);

/// The image in a PNG file, gray or RGB; 16 bits become 8, transparent parts are blended with white. Throws,
/// naming `who`, when the file is damaged or cut short, or has more than most_pixels.
Pixels from_png(std::string_view bytes, const std::string& who);

/// The bytes of a PNG file.
std::string to_png(const Pixels& pixels);

}  // namespace gradus::kit
