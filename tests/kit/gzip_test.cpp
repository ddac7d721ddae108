#include "gradus/kit/data/gzip.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"

using gradus::kit::is_gzip;
using gradus::kit::unzipped;
using namespace std::string_literals;

namespace {

// Python: gzip.compress(b"ein Hund\nzwei\n")
const std::string zipped_lines =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\xcd\xcc\x53\xf0\x28\xcd\x4b\xe1\xaa\x2a\x4f\xcd\xe4\x02\x00\x53\x10\x7a\x64\x0e\x00\x00\x00"s;

/// The message that f throws.
std::string complaint_about(const auto& f) {
  try {
    f();
  } catch (const gradus::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("gzip files are recognized by their first bytes") {
  CHECK(is_gzip(zipped_lines));
  CHECK(!is_gzip("ein Hund\n"));
  CHECK(!is_gzip(""));
}

TEST_CASE("gzip: a file cut short or damaged anywhere gives an error or the same text, never a crash") {
  CHECK(unzipped(zipped_lines, "x") == "ein Hund\nzwei\n");
  for (std::size_t length = 2; length < zipped_lines.size(); ++length) {
    CAPTURE(length);
    CHECK(complaint_about([&] { unzipped(zipped_lines.substr(0, length), "x"); }) ==
          "x: is cut short: it ends within its gzip data");
  }
  for (std::size_t i = 2; i < zipped_lines.size(); ++i)
    for (const int flip : {1, 0x55, 0xff}) {
      std::string bytes = zipped_lines;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      std::string text;
      const std::string said = complaint_about([&] { text = unzipped(bytes, "x"); });
      CAPTURE(i);
      CHECK((said == "no error" ? text == "ein Hund\nzwei\n" : said.starts_with("x: is ")));
    }
  CHECK(complaint_about([&] { unzipped(zipped_lines + "rest", "x"); }).starts_with("x: is damaged"));
}
