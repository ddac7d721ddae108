#pragma once
// The pixels of images.

#include <cstdint>

#include "gradus/kit/chart/image.h"
#include "gradus/kit/data/detail/png.h"

namespace gradus::kit {

/// Turns an Image's values into pixels.
class ImagePixels {
 public:
  /// Throws unless the sizes match and `low` is below `high`. The image must outlive this.
  explicit ImagePixels(const Image& image);

  std::int64_t count() const { return count_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return (count_ + columns_ - 1) / columns_; }
  bool any_not_finite() const { return not_finite_; }

  /// One of the images.
  Pixels one(std::int64_t index) const;
  /// All images in their grid, with gray lines of two pixels between them.
  Pixels grid() const;

 private:
  void put(Pixels& to, std::int64_t index, std::int64_t top, std::int64_t left) const;
  std::int64_t channels() const { return not_finite_ ? 3 : image_.channels; }

  const Image& image_;
  std::int64_t count_ = 0;
  std::int64_t columns_ = 1;
  double low_ = 0;
  double high_ = 1;
  bool not_finite_ = false;
};

}  // namespace gradus::kit
