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

TEST_CASE("patterns: white space in brackets") {
  CHECK(pieces_by(R"([\S]+)", "a b") == Pieces{"a", " ", "b"});
  CHECK(pieces_by(R"([[:alpha:]\s]+)", "a b1") == Pieces{"a b", "1"});
  CHECK(pieces_by(R"([[:^alpha:]\s]+)", "a b1") == Pieces{"a", " ", "b", "1"});
  CHECK(pieces_by(R"([[:\s]+)", "a[ :b") == Pieces{"a", "[ :", "b"});
  CHECK(pieces_by(R"([]\s]+)", "a] b") == Pieces{"a", "] ", "b"});
  CHECK(pieces_by(R"([^]\s]+)", "a] b") == Pieces{"a", "] ", "b"});
  CHECK(pieces_by(R"(]\s)", "a] b") == Pieces{"a", "] ", "b"});
}

TEST_CASE("patterns: a match may begin later, have callouts, or contain the pattern itself") {
  CHECK(pieces_by(R"(a\Kb)", "abab") == Pieces{"a", "b", "a", "b"});
  for (const char* const callout : {"a(?C)b", "a(?C1)b", "a(?C255)b"}) {
    CAPTURE(callout);
    CHECK(pieces_by(callout, "ababx") == Pieces{"ab", "ab", "x"});
  }
  for (const char* const self : {"(?R)", "(?0)", R"(\g<0>)", R"(\g'0')"}) {
    CAPTURE(self);
    const std::string expression = R"(\((?:[^()]|)" + std::string(self) + R"()*\))";
    CHECK(pieces_by(expression.c_str(), "x(a(b))(c)") == Pieces{"x", "(a(b))", "(c)"});
  }
}

TEST_CASE("patterns: one that cannot be compiled to machine code is interpreted") {
  CHECK(pieces_by("(?(?C9)(?=a)ab|cd)", "xabcdabä") == Pieces{"x", "ab", "cd", "ab", "ä"});
}

TEST_CASE("patterns: errors") {
  CHECK_THROWS_AS(Pattern("pieces", "(a"), Error);
  CHECK_THROWS_AS(Pattern("pieces", "a)"), Error);
  CHECK_THROWS_AS(pieces_by(R"(\C)", "a"), Error);
  CHECK_THROWS_WITH_AS(Pattern("pieces", "a\\"),
                       doctest::Contains("pieces: the pattern 'a\\' is invalid at "), Error);
  CHECK_THROWS_WITH_AS(
      Pattern("pieces", R"([a-z&&[^b]]+)"),
      "pieces: the pattern '[a-z&&[^b]]+' has && in brackets, an intersection, which is not supported",
      Error);
  CHECK(pieces_by("[a&]&&", "a&&b") == Pieces{"a&&", "b"});
  // A match that begins before the text that is left, and one that ends before it begins. (PCRE2 10.45 and
  // later find them themselves.)
  CHECK_THROWS_WITH_AS(pieces_by(R"((?(DEFINE)(?<k>\K))(?:a|(?<=(?&k)a)b))", "ab"),
                       doctest::Contains(" cannot "), Error);
  CHECK_THROWS_WITH_AS(pieces_by(R"((?(DEFINE)(?<k>a\K))(?=(?&k)))", "ba"), doctest::Contains(" cannot "),
                       Error);
  CHECK_THROWS_WITH_AS(pieces_by("((a+)+)+x", std::string(40, 'a')),
                       doctest::Contains("cannot be matched near byte 0"), Error);
}

}  // namespace gradus::text::detail
