#pragma once
// Tensors as images.
//
//   kit::image(x[0]).save("digit.png");                       // gray [H, W] or [1, H, W], colors [3, H, W]
//   kit::image(x.slice(0, 0, 16)).save("digits.svg");         // a batch [N, 1, H, W] or [N, 3, H, W]
//
// image_files.h reads images.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus {
class Tensor;
}

namespace gradus::kit {

/// One image or a grid of images. All members have initializers, so that designated initializers may leave
/// out any of them.
struct Image {
  std::string title{};               // above the images, in SVG and HTML
  std::string description{};         // for screen readers; sizes and names are added
  std::vector<std::string> names{};  // below each image, in SVG and HTML
  int columns = 0;                   // images side by side; 0: about as many as there are rows
  /// The value drawn black (no red, green or blue) and the one drawn white (most of it); values beyond them
  /// are drawn like them. Not given: 0 and 1 if all values are between these, else the smallest and the
  /// largest of all images.
  std::optional<double> low{}, high{};

  std::int64_t channels = 1;     // 1: gray; 3: red, green and blue
  std::int64_t height = 0;       // of each image, in pixels
  std::int64_t width = 0;        // of each image, in pixels
  std::vector<double> values{};  // [images, channels, height, width]

  /// Writes the images: "digits.png" has a pixel for each value; "digits.svg" and the page "digits.html"
  /// show small images enlarged, with title and names. Throws for any other ending, and when draw() or
  /// replace_file() throws.
  void save(const std::string& path) const;
};

/// A tensor as an image, in `options`: [H, W] and [1, H, W] are gray, [3, H, W] has colors as PyTorch orders
/// them, and [N, 1, H, W] or [N, 3, H, W] is a grid of images. A pixel with a value that is NaN or infinite
/// is magenta.
///
///   kit::image(x[0]).save("first.png");
///   kit::image(layer.weight, {.title = "Filters", .low = -1, .high = 1}).save("filters.svg");
///
/// Throws for any other shape, such as [H, W, 3], for images of more than 1024 x 1024, for more than 2^22
/// pixels in all, and when the number of names is neither 0 nor the number of images.
Image image(const Tensor& x, Image options = {});

/// Returns the <svg> element. Throws when the sizes do not match, or `low` is not below `high`.
std::string draw(const Image& image);

}  // namespace gradus::kit
