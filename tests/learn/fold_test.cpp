#include "learn/program/fold.h"

#include <doctest/doctest.h>

namespace gradus::learn {

TEST_CASE("fold: lines end between words, at 100 characters at most") {
  const std::string nine = "123456789";
  std::string ten_words = nine;  // 99 characters
  for (int i = 1; i < 10; ++i) ten_words += " " + nine;
  CHECK(folded("") == "");
  CHECK(folded("one line") == "one line");
  CHECK(folded(ten_words) == ten_words);
  CHECK(folded("x" + ten_words) == "x" + ten_words);  // 100
  CHECK(folded("xx" + ten_words) == "xx" + ten_words.substr(0, 89) + "\n" + nine);
  CHECK(folded("  " + ten_words, 4) == "  " + ten_words.substr(0, 89) + "\n    " + nine);
  CHECK(folded(ten_words + " a b") == ten_words + "\na b");
  CHECK(folded(std::string(150, 'x') + " b") == std::string(150, 'x') + "\nb");
}

TEST_CASE("fold: letters of other languages count as one character each") {
  std::string words = "öö";
  for (int i = 1; i < 33; ++i) words += " öö";  // 98 characters, 164 bytes
  CHECK(folded(words) == words);
  CHECK(folded("x " + words) == "x " + words);
  CHECK(folded(words + " öö") == words + "\nöö");
}

}  // namespace gradus::learn
