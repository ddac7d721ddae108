#include "gradus/kit/chart/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/tensor.h"
#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/image_pixels.h"
#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {
namespace {

constexpr std::int64_t largest_side = 1024;
constexpr std::int64_t most_image_pixels = std::int64_t{1} << 22;

bool is_channels(std::int64_t size) { return size == 1 || size == 3; }

/// What to do about a tensor that is no image.
std::string remedy_for(const Tensor& x) {
  const int axes = x.dim();
  if (axes == 3 && is_channels(x.size(2))) return "; colors come first: x.permute({2, 0, 1})";
  if (axes == 4 && is_channels(x.size(3))) return "; colors come before rows: x.permute({0, 3, 1, 2})";
  if (axes == 3) return "; if these are gray images, x.unsqueeze(1)";
  if (axes == 1) return "; x.view({height, width}) if these are the pixels of one";
  if (axes == 2) return "";
  return "; choose some, as in x[0]";
}

std::string describe_images(const Image& image, std::int64_t count) {
  std::string text = fmt::format("{} {}{} of {} by {} pixels", count, image.channels == 1 ? "gray " : "",
                                 count == 1 ? "image" : "images", image.width, image.height);
  for (std::size_t i = 0; i < image.names.size(); ++i) text += (i == 0 ? ": " : ", ") + image.names[i];
  return image.description.empty() ? text + "." : image.description + " " + text + ".";
}

}  // namespace

Image image(const Tensor& x, Image options) {
  check(x.defined(), "kit::image: the tensor is undefined: give it a value first");
  const int axes = x.dim();
  check((axes == 2 || ((axes == 3 || axes == 4) && is_channels(x.size(-3)))) && x.numel() > 0,
        "kit::image: expects [H, W], [1, H, W], [3, H, W] or a batch [N, 1, H, W] or [N, 3, H, W], got the "
        "shape {}{}",
        x.shape(), x.numel() == 0 ? "; it has no pixels" : remedy_for(x));
  options.channels = axes == 2 ? 1 : x.size(-3);
  options.height = x.size(-2);
  options.width = x.size(-1);
  check(options.height <= largest_side && options.width <= largest_side,
        "kit::image: expects images of at most {} x {}, got the shape {}; show a part, as in "
        "x.slice(-1, 0, {})",
        largest_side, largest_side, x.shape(), largest_side);
  check(x.numel() / options.channels <= most_image_pixels,
        "kit::image: expects at most {} pixels in all, got the shape {}; show fewer images, as in "
        "x.slice(0, 0, 16)",
        most_image_pixels, x.shape());
  const std::int64_t count = x.numel() / (options.channels * options.height * options.width);
  check(options.names.empty() || static_cast<std::int64_t>(options.names.size()) == count,
        "kit::image: expects a name for each image, or none, got .names of {} for the {} in the shape {}",
        options.names.size(), count, x.shape());
  options.values = x.detach().to(f64).to_vector<double>();
  return options;
}

std::string draw(const Image& image) {
  const ImagePixels pixels(image);
  constexpr double room = 400 - 2 * margin, gap = 6;
  const auto columns = static_cast<double>(pixels.columns());
  double cell = (room - gap * (columns - 1)) / columns;
  for (const std::string& name : image.names) cell = std::max(cell, text_width(name, text_size) + 2);
  cell = std::max(cell, 8.0);
  const double width = columns * (cell + gap) - gap + 2 * margin;
  const double scale =
      std::min(cell / static_cast<double>(image.width), room / static_cast<double>(image.height));
  const double shown_width = scale * static_cast<double>(image.width);
  const double shown_height = scale * static_cast<double>(image.height);

  Svg svg;
  double top = margin;
  for (const std::string& line : wrapped(image.title, 1.1 * title_size, width - 2 * margin)) {
    svg.text("title", margin, top + 14, Anchor::start, line);
    top += 19;
  }
  if (!image.title.empty()) top += 6;
  const double line_height = shown_height + (image.names.empty() ? 0 : 18) + gap;
  for (std::int64_t i = 0; i < pixels.count(); ++i) {
    const double left = margin + static_cast<double>(i % pixels.columns()) * (cell + gap);
    const double y = top + static_cast<double>(i / pixels.columns()) * line_height;
    svg.image(left + (cell - shown_width) / 2, y, shown_width, shown_height, to_png(pixels.one(i)),
              scale < 0.5);
    if (!image.names.empty())
      svg.text("", left + cell / 2, y + shown_height + 13, Anchor::middle,
               image.names[static_cast<std::size_t>(i)]);
  }
  top += static_cast<double>(pixels.rows()) * line_height - gap;
  if (pixels.any_not_finite()) {
    svg.text("soft", margin, top + 16, Anchor::start, "magenta: NaN or infinite");
    top += 20;
  }
  return svg.finish(width, top + margin, image.title.empty() ? "Image" : image.title,
                    describe_images(image, pixels.count()));
}

}  // namespace gradus::kit
