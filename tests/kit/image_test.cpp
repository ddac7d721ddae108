#include "gradus/kit/chart/image.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chart_support.h"
#include "gradus/core/creation.h"
#include "gradus/core/error.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/chart/terminal.h"
#include "gradus/kit/data/detail/png.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/image_files.h"
#include "gradus/kit/report/html_report.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// The pixels of an image saved as PNG.
kit::Pixels saved_pixels(const kit::Image& image) {
  const ScratchFolder folder;
  image.save((folder / "x.png").string());
  return kit::from_png(kit::read_file(folder / "x.png"), "x.png");
}

}  // namespace

TEST_CASE("image: saved as PNG and read again, values in 255ths stay as they are") {
  const ScratchFolder folder;
  const std::string path = (folder / "x.png").string();
  std::vector<float> values;
  for (int i = 0; i < 3 * 5 * 17; ++i) values.push_back(static_cast<float>(i) / 255);
  for (const Shape& shape : {Shape{3, 5, 17}, Shape{1, 15, 17}}) {
    const Tensor x = from_vector(values, shape);
    kit::image(x).save(path);
    const Tensor back = kit::read_image(path);
    CHECK(back.shape() == shape);
    CHECK(back.to_vector<float>() == values);
  }
}

TEST_CASE("image: exact pixels of gray values, colors, bool and i64") {
  CHECK(saved_pixels(kit::image(tensor({{0.0, 0.5}, {0.2, 1.0}}))).values == Bytes{0, 128, 51, 255});
  CHECK(saved_pixels(kit::image(tensor({{false, true}}))).values == Bytes{0, 255});
  const kit::Pixels colors = saved_pixels(kit::image(tensor({{{1.0, 0.0}}, {{0.2, 0.4}}, {{0.0, 1.0}}})));
  CHECK(colors.channels == 3);
  CHECK(colors.values == Bytes{255, 51, 0, 0, 102, 255});
  // Beyond 0 to 1: from the smallest to the largest.
  CHECK(saved_pixels(kit::image(tensor({{-1, 0}, {1, 4}}))).values == Bytes{0, 51, 102, 255});
  CHECK(saved_pixels(kit::image(tensor({{7, 7}}))).values == Bytes{0, 0});
  CHECK(saved_pixels(kit::image(tensor({{-1e308, 1e308, 0.0}}, f64))).values == Bytes{0, 255, 128});
  // Given: values beyond the range are drawn like its ends.
  CHECK(saved_pixels(kit::image(tensor({{-3, 0, 1, 9}}), {.low = -1, .high = 4})).values ==
        Bytes{0, 51, 102, 255});
  CHECK(saved_pixels(kit::image(tensor({{0.5, 1.0}}), {.low = 0.5})).values == Bytes{0, 255});
}

TEST_CASE("image: values that are not finite are magenta, and do not count for the range") {
  const kit::Image image = kit::image(tensor({{0.0, kNaN, 1.0, kInf, -kInf}}));
  CHECK(saved_pixels(image).values == Bytes{0, 0, 0, 255, 0, 255, 255, 255, 255, 255, 0, 255, 255, 0, 255});
  CHECK(kit::draw(image).find("magenta: NaN or infinite") != std::string::npos);
  CHECK(kit::draw(kit::image(tensor({{0.0}}))).find("magenta") == std::string::npos);
  CHECK(saved_pixels(kit::image(tensor({{kNaN}}))).values == Bytes{255, 0, 255});
  // One channel of a color suffices.
  CHECK(saved_pixels(kit::image(tensor({{{kNaN}}, {{0.5}}, {{0.5}}}))).values == Bytes{255, 0, 255});
}

TEST_CASE("image: a batch is a grid with gray lines between its images") {
  const Tensor x = tensor({0.0, 0.2, 1.0}).view({3, 1, 1, 1});
  const kit::Pixels three = saved_pixels(kit::image(x));  // 2 x 2, one of them missing
  CHECK(three.width == 4);
  CHECK(three.height == 4);
  CHECK(three.values == Bytes{0, 128, 128, 51, 128, 128, 128, 128,  //
                              128, 128, 128, 128, 255, 128, 128, 128});
  const kit::Pixels row = saved_pixels(kit::image(x, {.columns = 7}));
  CHECK(row.width == 7);
  CHECK(row.values == Bytes{0, 128, 128, 51, 128, 128, 255});
  CHECK(saved_pixels(kit::image(x, {.columns = 1})).width == 1);
}

TEST_CASE("image: SVG and HTML have an image for each of a batch, and its name") {
  const ScratchFolder folder;
  const kit::Image image = kit::image(zeros({3, 1, 4, 6}), {.title = "Digits", .names = {"a < b", "7", "8"}});
  const std::string svg = kit::draw(image);
  expect_sound(svg);
  CHECK(count_of(svg, "<image ") == 3);
  CHECK(svg.find("<desc>3 gray images of 6 by 4 pixels: a &lt; b, 7, 8.</desc>") != std::string::npos);
  CHECK(svg.find(">a &lt; b</text>") != std::string::npos);
  // Known bytes: RFC 4648's alphabet and padding.
  CHECK(svg.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
  expect_sound(kit::draw(kit::image(zeros({3, 600, 1024}))));
  expect_sound(kit::draw(kit::image(zeros({1, 1024}))));
  image.save((folder / "x.svg").string());
  CHECK(kit::read_file(folder / "x.svg") == kit::svg_file(svg));
  image.save((folder / "x.html").string());
  CHECK(flaw_in(kit::read_file(folder / "x.html")) == "");
  CHECK(count_of(kit::read_file(folder / "x.html"), "<image ") == 3);
  CHECK(count_of(kit::read_file(folder / "x.html"), "<table") == 0);
  CHECK_THROWS_WITH_AS(
      image.save("x.jpg"),
      "Image \"Digits\": cannot save \"x.jpg\": expects a name that ends in .png, .svg or .html; "
      "browsers and programs such as Inkscape convert .svg to other formats",
      Error);
}

TEST_CASE("image: messages for tensors and options that are no image") {
  const std::string expects =
      "kit::image: expects [H, W], [1, H, W], [3, H, W] or a batch [N, 1, H, W] or [N, 3, H, W], got the "
      "shape ";
  const auto complaint = [](const Tensor& x, kit::Image options = {}) -> std::string {
    try {
      kit::draw(kit::image(x, std::move(options)));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint(Tensor()) == "kit::image: the tensor is undefined: give it a value first");
  CHECK(complaint(zeros({8, 9, 3})) == expects + "[8, 9, 3]; colors come first: x.permute({2, 0, 1})");
  CHECK(complaint(zeros({5, 8, 9, 3})) ==
        expects + "[5, 8, 9, 3]; colors come before rows: x.permute({0, 3, 1, 2})");
  CHECK(complaint(zeros({5, 8, 9})) == expects + "[5, 8, 9]; if these are gray images, x.unsqueeze(1)");
  CHECK(complaint(zeros({784})) == expects + "[784]; x.view({height, width}) if these are the pixels of one");
  CHECK(complaint(zeros({2, 2, 3, 4, 4})) == expects + "[2, 2, 3, 4, 4]; choose some, as in x[0]");
  CHECK(complaint(zeros({0, 1, 4, 4})) == expects + "[0, 1, 4, 4]; it has no pixels");
  CHECK(complaint(zeros({1, 1025})) ==
        "kit::image: expects images of at most 1024 x 1024, got the shape [1, 1025]; show a part, as in "
        "x.slice(-1, 0, 1024)");
  CHECK(complaint(zeros({5, 1, 1024, 1024})) ==
        "kit::image: expects at most 4194304 pixels in all, got the shape [5, 1, 1024, 1024]; show fewer "
        "images, as in x.slice(0, 0, 16)");
  CHECK(complaint(zeros({1024, 1024})) == "");
  CHECK(complaint(zeros({2, 1, 4, 4}), {.names = {"a"}}) ==
        "kit::image: expects a name for each image, or none, got .names of 1 for the 2 in the shape [2, 1, "
        "4, 4]");
  CHECK(complaint(zeros({4, 4}), {.title = "T", .low = 1, .high = 1}) ==
        "Image \"T\": expects low below high, got 1 and 1");
  CHECK(complaint(zeros({4, 4}), {.title = "T", .low = -std::numeric_limits<double>::infinity()}) ==
        "Image \"T\": expects low below high, got -inf and 1");
  for (const double value : {1e17, -1e300, 1.7e308})  // to which adding 1 changes nothing
    CHECK(complaint(full({4, 4}, value, f64)) == "");
  CHECK(complaint(zeros({4, 4}), {.title = "T", .columns = -1}) ==
        "Image \"T\": expects columns of at least 0, got -1");
  CHECK_THROWS_WITH_AS(kit::draw(kit::Image{.title = "T"}),
                       "Image \"T\": 0 values are no images with 1 channels of 0 x 0", Error);
}

TEST_CASE("a heat map without numbers is shades, up to 1024 x 1024") {
  const kit::HeatMap map = kit::heat_map(tensor({{0.0, 1.0}, {kNaN, 0.5}}), {.title = "W", .numbers = false});
  const std::string svg = kit::draw(map);
  expect_sound(svg);
  CHECK(count_of(svg, "<image ") == 1);
  CHECK(count_of(svg, "#b84a00") == 1);  // in the legend, because one value is NaN
  CHECK(svg.find("<desc>Values. 2 rows, 2 columns, from 0.00 to 1.00.</desc>") != std::string::npos);
  CHECK(kit::draw(kit::heat_map(zeros({3, 3}), {.numbers = false})).find("#b84a00") == std::string::npos);
  const std::string large = kit::draw(kit::heat_map(zeros({1024, 1024}), {.numbers = false}));
  expect_sound(large.substr(0, large.find("<image")) +
               large.substr(large.find("/>", large.find("<image")) + 2));
  CHECK(large.size() < 40000);
  CHECK(count_of(large, "<text") < 70);
  CHECK_THROWS_WITH_AS(
      kit::heat_map(zeros({1, 1025}), {.numbers = false}),
      "kit::heat_map: expects at most 1024 x 1024 elements, got the shape [1, 1025]; show a slice, "
      "or means of blocks",
      Error);
  kit::HtmlReport report("R", "");
  report.figure(map, "Shades.");
  CHECK(flaw_in(report.html()) == "");
  CHECK(count_of(report.html(), "<table") == 0);
  CHECK(kit::terminal(map, {.width = 60, .ascii = true}).find("columns 0 to 1") != std::string::npos);
}
