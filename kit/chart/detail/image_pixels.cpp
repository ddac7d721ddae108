#include "gradus/kit/chart/detail/image_pixels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "gradus/core/check.h"

namespace gradus::kit {
namespace {

constexpr std::int64_t grid_gap = 2;
constexpr std::uint8_t grid_gray = 128;
constexpr std::array<std::uint8_t, 3> not_finite_color = {255, 0, 255};  // magenta, rare in photographs

}  // namespace

ImagePixels::ImagePixels(const Image& image) : image_(image) {
  const std::int64_t size = image.channels * image.height * image.width;
  const auto values = static_cast<std::int64_t>(image.values.size());
  check((image.channels == 1 || image.channels == 3) && image.height > 0 && image.width > 0 && values > 0 &&
            values % size == 0,
        "Image \"{}\": {} values are no images with {} channels of {} x {}", image.title, values,
        image.channels, image.height, image.width);
  count_ = values / size;
  const auto names = static_cast<std::int64_t>(image.names.size());
  check(names == 0 || names == count_, "Image \"{}\": {} names for {} images", image.title, names, count_);
  check(image.columns >= 0, "Image \"{}\": expects columns of at least 0, got {}", image.title,
        image.columns);
  columns_ = image.columns > 0 ? std::min<std::int64_t>(image.columns, count_)
                               : std::llround(std::ceil(std::sqrt(static_cast<double>(count_))));

  double smallest = 0, largest = 1;
  bool first = true;
  for (const double value : image.values) {
    if (!std::isfinite(value)) {
      not_finite_ = true;
      continue;
    }
    smallest = first ? value : std::min(smallest, value);
    largest = first ? value : std::max(largest, value);
    first = false;
  }
  const bool usual = smallest >= 0 && largest <= 1;
  low_ = image.low.value_or(usual ? 0 : smallest);
  high_ = image.high.value_or(usual ? 1 : largest);
  if (low_ == high_ && !image.low && !image.high)  // all are equal, and not in 0 to 1
    high_ = low_ + std::max(1.0, std::abs(low_) / 2);
  if (!image.low && !image.high) return;
  check(low_ < high_ && std::isfinite(low_) && std::isfinite(high_),
        "Image \"{}\": expects low below high, got {} and {}", image.title, low_, high_);
}

void ImagePixels::put(Pixels& to, std::int64_t index, std::int64_t top, std::int64_t left) const {
  const std::int64_t plane = image_.height * image_.width;
  const double* from = image_.values.data() + index * image_.channels * plane;
  const double half_span = high_ / 2 - low_ / 2;  // halves: of very large values the span may be infinite
  for (std::int64_t y = 0; y < image_.height; ++y)
    for (std::int64_t x = 0; x < image_.width; ++x) {
      std::uint8_t* pixel = to.values.data() + ((top + y) * to.width + left + x) * to.channels;
      bool finite = true;
      for (std::int64_t c = 0; c < to.channels; ++c) {
        const double value = from[std::min(c, image_.channels - 1) * plane + y * image_.width + x];
        finite = finite && std::isfinite(value);
        if (finite)
          pixel[c] = static_cast<std::uint8_t>(
              std::lround(255 * std::clamp((value / 2 - low_ / 2) / half_span, 0.0, 1.0)));
      }
      if (!finite) std::copy(not_finite_color.begin(), not_finite_color.end(), pixel);
    }
}

Pixels ImagePixels::one(std::int64_t index) const {
  Pixels pixels{.width = image_.width, .height = image_.height, .channels = channels()};
  pixels.values.resize(static_cast<std::size_t>(pixels.width * pixels.height * pixels.channels));
  put(pixels, index, 0, 0);
  return pixels;
}

Pixels ImagePixels::grid() const {
  Pixels pixels{.width = columns() * (image_.width + grid_gap) - grid_gap,
                .height = rows() * (image_.height + grid_gap) - grid_gap,
                .channels = channels()};
  pixels.values.assign(static_cast<std::size_t>(pixels.width * pixels.height * pixels.channels), grid_gray);
  for (std::int64_t i = 0; i < count_; ++i)
    put(pixels, i, i / columns() * (image_.height + grid_gap), i % columns() * (image_.width + grid_gap));
  return pixels;
}

}  // namespace gradus::kit
