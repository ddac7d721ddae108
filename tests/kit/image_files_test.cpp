#include "gradus/kit/data/image_files.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/tensor.h"
#include "gradus/kit/data/detail/png.h"
#include "support.h"

using namespace gradus;
using namespace std::string_literals;

namespace {

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Written with Python's zlib. 2 x 1 each: colors ff0033 and 0066ff from a palette, one bit a pixel; gray
// 0x8080 and 0xffff of 16 bits.
const std::string palette_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d4948445200000002000000010103000000ceecedc900000006504c5445ff00330066ffbd"
    "9866e00000000a4944415478da637000000042004184bf8e620000000049454e44ae426082");
const std::string deep_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000d4944415478da636868f8ff"
    "1f00068202ff6ce043230000000049454e44ae426082");
// 3 x 3 values of 16 bits, gray and gray with opacity, as they are and interlaced.
const std::string deep_gray_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d494844520000000300000003100000000023d336200000001e49444154789c63a8bce674"
    "6c6f16c3a7ed8a3d6c7b193ed8b79c2aff05006c4b0a86e05577e20000000049454e44ae426082");
const std::string interlaced_gray_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d494844520000000300000003100000000154d406b60000002149444154789c63a8bcc6b0"
    "378be1837df92f06a7630c2da7183e6d57ec61db0b007f400a86ff268aa80000000049454e44ae426082");
const std::string deep_alpha_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000031004000000acb1a1770000003249444154789c012700d8ff"
    "00622cf0c6f3e4cb554d1d76be004da1c7a507c120c8519c15e8009a3f0fe089f2f20cc674da977e4513ba135c59c900"
    "00000049454e44ae426082");
const std::string interlaced_alpha_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000031004000001dbb691e10000003549444154789c012a00d5ff"
    "00622cf0c6004d1d76be009a3f0fe0c674da9700f3e4cb550089f2f20c004da1c7a507c120c8519c15e8934613babcbb"
    "2b310000000049454e44ae426082");
// The same of colors.
const std::string deep_color_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d494844520000000300000003100200000089dafeab000000444944415478da013900c6ff"
    "0079d642c6bd6af2b7218c06bdf03f84ca77fa00622cf0c6f3e4cb554d1d76be4da1c7a507c10020c8519c15e89a3f0f"
    "e089f2f20cc674da9766a91e3faeec42130000000049454e44ae426082");
const std::string interlaced_color_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000031002000001feddce3d000000474944415478da013c00c3ff"
    "0079d642c6bd6a00f03f84ca77fa0020c8519c15e8f20cc674da9700f2b7218c06bd009a3f0fe089f200622cf0c6f3e4"
    "cb554d1d76be4da1c7a507c18a891e3f524fa5fa0000000049454e44ae426082");
// Headers of 1000000 x 1000000 and 8000 x 8000 pixels, with almost nothing after them.
const std::string huge_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d49484452000f4240000f42400100000000741605d0000000084944415478da0300000000"
    "016fddc9910000000049454e44ae426082");
const std::string wide_png = bytes_of_hex(
    "89504e470d0a1a0a0000000d4948445200001f4000001f4001000000002e8a9059000000094944415478da6300000001"
    "0001b10db6930000000049454e44ae426082");
// Labels 7, 0, 255, as they are and by Python's gzip.
const std::string idx_labels = "\0\0\x08\x01\0\0\0\x03\x07\0\xff"s;
const std::string zipped_labels =
    bytes_of_hex("1f8b08000000000002036360e060646060606667f80f008c450d260b000000");
// Two images of 1 x 2.
const std::string idx_images = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\xff\x33\x80"s;

/// What a reader makes of a file with these bytes: its result, or what it throws without the file's name.
struct ReadOutcome {
  Tensor x;
  std::string complaint{};
};

ReadOutcome read_as_file(Tensor (*reader)(const std::filesystem::path&), std::string_view bytes) {
  static const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "file";
  std::ofstream(path, std::ios::binary) << bytes;  // replace_file waits for the disk
  try {
    return {reader(path)};
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string name = path.string();
    if (const std::size_t at = text.find(name); at != std::string::npos)
      text.replace(at, name.size(), "file");
    return {{}, text};
  }
}

std::vector<float> in_255ths(const Tensor& x) {
  std::vector<float> values = x.to_vector<float>();
  for (float& value : values) value *= 255;
  return values;
}

/// Files cut short anywhere give an error, and damaged ones an error or a tensor.
void expect_no_crash(Tensor (*reader)(const std::filesystem::path&), const std::string& good) {
  REQUIRE(read_as_file(reader, good).complaint == "");
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    const ReadOutcome outcome = read_as_file(reader, good.substr(0, size));
    CHECK((outcome.complaint != "" ||
           (kit::is_png(good) && size + 12 >= good.size())));  // its last chunk is empty
  }
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const int flip : {1, 0x40, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const ReadOutcome outcome = read_as_file(reader, bytes);
      CAPTURE(i);
      CHECK((outcome.x.defined() || outcome.complaint.find(": file") != std::string::npos));
    }
}

}  // namespace

TEST_CASE("read_image: a PNG comes back as it was written, gray [1, H, W] and colors [3, H, W]") {
  const kit::Pixels gray{.width = 3, .height = 2, .channels = 1, .values = {0, 1, 128, 254, 255, 77}};
  const Tensor x = read_as_file(kit::read_image, kit::to_png(gray)).x;
  CHECK(x.shape() == Shape{1, 2, 3});
  CHECK(x.dtype() == f32);
  CHECK(x.to_vector<float>() == std::vector<float>{0, 1 / 255.F, 128 / 255.F, 254 / 255.F, 1, 77 / 255.F});
  const kit::Pixels colors{.width = 2, .height = 1, .channels = 3, .values = {1, 2, 3, 40, 50, 60}};
  const Tensor y = read_as_file(kit::read_image, kit::to_png(colors)).x;
  CHECK(y.shape() == Shape{3, 1, 2});
  CHECK(y.to_vector<float>() ==
        std::vector<float>{1 / 255.F, 40 / 255.F, 2 / 255.F, 50 / 255.F, 3 / 255.F, 60 / 255.F});
}

TEST_CASE("to_png: what no PNG can hold is an error") {
  const kit::Pixels none{.width = 0, .height = 1, .channels = 1, .values = {1}};
  CHECK_THROWS_WITH_AS(kit::to_png(none), doctest::Contains("kit: libpng cannot write a PNG: "), Error);
}

TEST_CASE("read_image: PNGs with a palette, 16 bits and transparent parts") {
  CHECK(in_255ths(read_as_file(kit::read_image, palette_png).x) ==
        std::vector<float>{255, 0, 0, 102, 51, 255});
  const Tensor deep = read_as_file(kit::read_image, deep_png).x;
  CHECK(deep.shape() == Shape{1, 1, 2});
  CHECK(deep.to_vector<float>() == std::vector<float>{128 / 255.F, 1});
  const kit::Pixels clear{.width = 2, .height = 1, .channels = 4, .values = {10, 20, 30, 255, 10, 20, 30, 0}};
  const Tensor x = read_as_file(kit::read_image, kit::to_png(clear)).x;
  CHECK(x.to_vector<float>() == std::vector<float>{10 / 255.F, 1, 20 / 255.F, 1, 30 / 255.F, 1});
}

TEST_CASE("read_image: an interlaced PNG of 16 bits is the one without") {
  for (const auto& [plain, interlaced] :
       {std::pair(deep_gray_png, interlaced_gray_png), std::pair(deep_alpha_png, interlaced_alpha_png),
        std::pair(deep_color_png, interlaced_color_png)}) {
    const std::vector<float> want = in_255ths(read_as_file(kit::read_image, plain).x),
                             got = in_255ths(read_as_file(kit::read_image, interlaced).x);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 1.01F);  // rounding
  }
  CHECK(read_as_file(kit::read_image, interlaced_color_png).x.shape() == Shape{3, 3, 3});
  expect_no_crash(kit::read_image, interlaced_alpha_png);
  expect_no_crash(kit::read_image, interlaced_color_png);
}

TEST_CASE("read_image: PGM and PPM, in bytes and in digits, with comments") {
  const Tensor gray = read_as_file(kit::read_image, "P5\n# by hand\n2 1\n255\n\x33\xff").x;
  CHECK(gray.shape() == Shape{1, 1, 2});
  CHECK(gray.to_vector<float>() == std::vector<float>{51 / 255.F, 1});
  const Tensor colors = read_as_file(kit::read_image, "P6 1 2 3\n\x01\x02\x03\x03\x02\x01").x;
  CHECK(colors.shape() == Shape{3, 2, 1});
  CHECK(colors.to_vector<float>() == std::vector<float>{1 / 3.F, 1, 2 / 3.F, 2 / 3.F, 1, 1 / 3.F});
  const Tensor deep = read_as_file(kit::read_image, "P5 1 1 1000\n\x01\xf4").x;
  CHECK(deep.to_vector<float>() == std::vector<float>{0.5F});
  CHECK(read_as_file(kit::read_image, "P2\n2 2 # two rows\n4\n0 1\n2 4\n").x.to_vector<float>() ==
        std::vector<float>{0, 0.25F, 0.5F, 1});
  CHECK(read_as_file(kit::read_image, "P3 1 1 2 0 1 2").x.to_vector<float>() ==
        std::vector<float>{0, 0.5F, 1});
}

TEST_CASE("read_image: messages for files it cannot read") {
  const auto complaint = [](std::string_view bytes) {
    return read_as_file(kit::read_image, bytes).complaint;
  };
  const std::string other =
      "read_image: file: is not a PNG, PGM (P2, P5) or PPM (P3, P6) file; convert it to PNG";
  CHECK(complaint("") == other);
  CHECK(complaint("P") == other);
  CHECK(complaint("P4 1 1\n\x01") == other);
  CHECK(complaint("\xff\xd8\xff\xe0 a JPEG") == other);
  CHECK(complaint("P5") == "read_image: file: expects a number as its width, got the end of the file");
  CHECK(complaint("P5 a 1 1 ") == "read_image: file: expects a number as its width, got 'a'");
  CHECK(complaint("P5 0 1 1 ") ==
        "read_image: file: expects a width, a height and a largest value above 0, got 0, 1 and 1");
  CHECK(complaint("P5 1 1 0 ") ==
        "read_image: file: expects a width, a height and a largest value above 0, got 1, 1 and 0");
  CHECK(complaint("P5 99999999999999999999 1 1 ") == "read_image: file: its width is above 67108864");
  CHECK(complaint("P6 60000 60000 255\n") ==
        "read_image: file: is 60000 x 60000; expects at most 67108864 pixels");
  CHECK(complaint("P5 1 1 65536\n ") == "read_image: file: its largest value is above 65535");
  CHECK(complaint("P6 8000 8000 255\n123") ==
        "read_image: file: is cut short: 3 bytes cannot hold 192000000 values");
  CHECK(complaint("P2 8000 8000 255\n1 2 3") ==
        "read_image: file: is cut short: 6 bytes cannot hold 64000000 values");
  CHECK(complaint("P5 1 1 255\n12") ==
        "read_image: file: has 1 bytes after its image; expects one image in a file");
  CHECK(complaint("P5 1 1 7\n\x08") == "read_image: file: value 1 is 8; the largest is 7 by the header");
  CHECK(complaint(huge_png) == "read_image: file: is 1000000 x 1000000; expects at most 67108864 pixels");
  CHECK(complaint(wide_png) ==
        "read_image: file: is damaged or cut short: 66 bytes cannot hold 8000 x 8000 pixels");
  CHECK(complaint(palette_png.substr(0, 60)).starts_with("read_image: file: is damaged or cut short: "));
  CHECK_THROWS_AS(kit::read_image("no such file.png"), Error);
}

TEST_CASE("read_idx_images and read_idx_labels: values and shapes, also gzipped") {
  const Tensor x = read_as_file(kit::read_idx_images, idx_images).x;
  CHECK(x.shape() == Shape{2, 1, 1, 2});
  CHECK(x.dtype() == f32);
  CHECK(x.to_vector<float>() == std::vector<float>{0, 1, 51 / 255.F, 128 / 255.F});
  for (const std::string& bytes : {idx_labels, zipped_labels}) {
    const Tensor y = read_as_file(kit::read_idx_labels, bytes).x;
    CHECK(y.dtype() == i64);
    CHECK(y.to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 0, 255});
  }
}

TEST_CASE("read_idx_images and read_idx_labels: messages for files they cannot read") {
  const auto images = [](std::string_view bytes) {
    return read_as_file(kit::read_idx_images, bytes).complaint;
  };
  const auto labels = [](std::string_view bytes) {
    return read_as_file(kit::read_idx_labels, bytes).complaint;
  };
  CHECK(images(idx_labels) ==
        "read_idx_images: file: is a file for read_idx_labels, not for read_idx_images");
  CHECK(labels(idx_images) ==
        "read_idx_labels: file: is a file for read_idx_images, not for read_idx_labels");
  CHECK(images("<!DOCTYPE html>") ==
        "read_idx_images: file: expects an IDX file of bytes, which begins with 00000803, got one that "
        "begins with 3c21444f; is it the right file?");
  CHECK(images("") == "read_idx_images: file: is cut short: it has 0 bytes");
  CHECK(images(idx_images.substr(0, 15)) == "read_idx_images: file: is cut short: it ends within its header");
  CHECK(images(idx_images.substr(0, 19)) ==
        "read_idx_images: file: is cut short: its header says [2, 1, 2], and 3 bytes follow it");
  CHECK(labels(idx_labels + "x") ==
        "read_idx_labels: file: is too long: its header says [3], and 4 bytes follow it");
  CHECK(labels("\0\0\x08\x01\0\0\0\0"s) == "read_idx_labels: file: is empty: its header says [0]");
  // Sizes whose product is 2^96, or 2^64 and so 0 in 64 bits.
  CHECK(images("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff..."s) ==
        "read_idx_images: file: is cut short: its header says [4294967295, 4294967295, 4294967295], and 3 "
        "bytes follow it");
  CHECK(images("\0\0\x08\x03\x40\0\0\0\x80\0\0\0\0\0\0\x08"s)
            .starts_with("read_idx_images: file: is cut short"));
  CHECK(labels(zipped_labels.substr(0, 20)) ==
        "read_idx_labels: file: is cut short: it ends within its gzip data");
}

TEST_CASE("image files that are cut short or damaged give an error or an image, never a crash") {
  expect_no_crash(kit::read_image, palette_png);
  expect_no_crash(kit::read_image, deep_png);
  expect_no_crash(kit::read_image, "P6 1 2 3\n\x01\x02\x03\x03\x02\x01");
  expect_no_crash(kit::read_image, "P3 1 1 2 0 1 2");
  expect_no_crash(kit::read_idx_images, idx_images);
  expect_no_crash(kit::read_idx_labels, idx_labels);
  expect_no_crash(kit::read_idx_labels, zipped_labels);
}
