#include "gradus/text/detail/unicode.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/text/detail/byte_letters.h"

namespace gradus::text::detail {

TEST_CASE("Unicode: white space") {
  for (const char32_t c : {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028,
                           0x2029, 0x202F, 0x205F, 0x3000}) {
    CAPTURE(static_cast<std::uint32_t>(c));
    CHECK(is_white_space(c));
  }
  for (const char32_t c : {0x00, 0x08, 0x0E, 0x1F, 0x21, 0x84, 0x86, 0x180E, 0x200B, 0x2060, 0xFEFF}) {
    CAPTURE(static_cast<std::uint32_t>(c));
    CHECK(!is_white_space(c));
  }
}

TEST_CASE("Unicode: decomposition") {
  const auto parts_of = [](char32_t character) {
    std::u32string parts;
    decompose(character, parts);
    return parts;
  };
  CHECK((parts_of(U'x') == U"x"));
  CHECK((parts_of(U'\u1E69') == U"s\u0323\u0307"));
  CHECK((parts_of(U'\u1F82') == U"\u03B1\u0313\u0300\u0345"));
  CHECK((parts_of(U'\uD55C') == U"\u1112\u1161\u11AB"));
  CHECK((parts_of(U'\uFB01') == U"\uFB01"));  // compatible, not canonical
  CHECK_THROWS_WITH_AS(parts_of(0x110000), doctest::Contains("decompose: U+110000: "), Error);
}

TEST_CASE("letters of bytes: the bytes of letters, unless a character is not one") {
  std::string letters, bytes;
  for (int byte = 0; byte < 256; ++byte) {
    letters += byte_letter(static_cast<unsigned char>(byte));
    bytes += static_cast<char>(byte);
  }
  CHECK(bytes_of_letters(letters).value() == bytes);
  CHECK(bytes_of_letters("\u0120a\u0143").value() == " a\xAD");
  CHECK(bytes_of_letters("").value().empty());
  for (const char* const other : {"a b", "\u00AD", "\u0144", "\u4E2D", "a\xC4", "\xFF"}) {
    CAPTURE(other);
    CHECK(!bytes_of_letters(other));
  }
}

}  // namespace gradus::text::detail
