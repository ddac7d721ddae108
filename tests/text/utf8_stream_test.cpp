#include "gradus/text/utf8_stream.h"

#include <doctest/doctest.h>

#include <random>

#include "gradus/text/detail/unicode.h"
#include "text/golden.h"

using namespace gradus::text;

TEST_CASE("Utf8Stream: a character is returned when it is complete") {
  Utf8Stream out;
  CHECK(out.push("a\xE2") == "a");
  CHECK(out.push("\x82") == "");
  CHECK(out.push("\xAC!") == "\u20AC!");
  CHECK(out.flush() == "");
  CHECK(out.push("\xF0\x9F\x98") == "");
  CHECK(out.flush() == "\uFFFD");
  CHECK(out.flush() == "");
  CHECK(out.push("b") == "b");
}

TEST_CASE("Utf8Stream: invalid bytes become U+FFFD") {
  Utf8Stream out;
  CHECK(out.push("\xFF") == "\uFFFD");
  CHECK(out.push("\xC0\x80") == "\uFFFD\uFFFD");
  CHECK(out.push("\xE2\x82") == "");
  CHECK(out.push("x") == "\uFFFDx");
  CHECK(out.push("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
  CHECK(out.push("\xF4\x90") == "\uFFFD\uFFFD");            // above U+10FFFF
}

TEST_CASE("Utf8Stream: split anywhere, the text is the same, and always UTF-8") {
  std::mt19937 random(3);
  for (const auto& golden : gradus::test::text_golden()["texts"]) {
    const auto text = golden.get<std::string>();
    Utf8Stream out;
    std::string joined;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = 1 + random() % 3;
      const std::string whole = out.push(std::string_view(text).substr(at, bytes));
      REQUIRE(gradus::text::detail::is_utf8(whole));
      joined += whole;
      at += bytes;
    }
    CHECK(joined + out.flush() == text);
  }
}
