#include "gradus/text/detail/pattern.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/text/byte_level_bpe.h"

namespace gradus::text::detail {
namespace {

std::vector<std::string> pieces_by(const char* expression, std::string_view text) {
  const Pattern pattern("pieces", expression);
  std::vector<std::string> pieces;
  Pattern::Matcher(pattern).split(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

using Pieces = std::vector<std::string>;

}  // namespace

TEST_CASE("patterns: matches and the text between them are the whole text") {
  CHECK(pieces_by("[0-9]+", "ab12c345") == Pieces{"ab", "12", "c", "345"});
  CHECK(pieces_by("[0-9]+", "12") == Pieces{"12"});
  CHECK(pieces_by("[0-9]+", "äöü") == Pieces{"äöü"});
  CHECK(pieces_by("[0-9]*", "ä1ö22") == Pieces{"ä", "1", "ö", "22"});  // empty matches do not count
  CHECK(pieces_by("x*", "äöü") == Pieces{"äöü"});
  CHECK(pieces_by("a(?=b)|b", "abaab") == Pieces{"a", "b", "a", "a", "b"});
  CHECK(pieces_by("a", "") == Pieces{});
}

TEST_CASE("patterns: many matches in a row, more than are found at once") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += i % 7 == 0 ? "-a" : " b";
  const Pieces pieces = pieces_by(" b|a", text);
  std::string joined;
  for (const std::string& piece : pieces) joined += piece;
  CHECK(joined == text);
  CHECK(pieces.size() == 20'000 + 2858);
  CHECK(pieces_by("[a-z -]", text).size() == 40'000);
}

TEST_CASE("patterns: white space is Unicode's") {
  const std::string other = " \u180Ex";  // U+180E is none since Unicode 6.3
  CHECK(pieces_by(gpt2_pattern, other) == Pieces{" \u180E", "x"});
  CHECK(pieces_by(R"(\s+)", "a\u2028\u3000\u0085b\u180E\u200B") ==
        Pieces{"a", "\u2028\u3000\u0085", "b\u180E\u200B"});
  CHECK(pieces_by(R"(\S)", "\u180E\u00A0") == Pieces{"\u180E", "\u00A0"});
  CHECK(pieces_by(R"([\sx]+)", "ax\u00A0b") == Pieces{"a", "x\u00A0", "b"});
  CHECK(pieces_by(R"(\\s)", R"(a\sb)") == Pieces{"a", R"(\s)", "b"});
}

TEST_CASE("patterns: errors") {
  CHECK_THROWS_AS(Pattern("pieces", "(a"), Error);
  CHECK_THROWS_AS(Pattern("pieces", "a)"), Error);
  CHECK_THROWS_AS(pieces_by(R"(\C)", "a"), Error);
  CHECK_THROWS_WITH_AS(pieces_by("((a+)+)+x", std::string(40, 'a')),
                       doctest::Contains("cannot be matched near byte 0"), Error);
}

}  // namespace gradus::text::detail
