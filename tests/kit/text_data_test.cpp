#include "gradus/kit/data/text_data.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/utf8.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;

TEST_CASE("UTF-8 of every length is decoded") {
  CHECK(code_points("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == U"a\u00E9\u20AC\U0001F600");
  CHECK(to_utf8(U"a\u00E9\u20AC\U0001F600") == "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST_CASE("bytes that are not UTF-8 are kept one by one") {
  CHECK(code_points("\xff") == std::u32string{0xDCFF});
  CHECK(code_points("\xC0\x80") == std::u32string{0xDCC0, 0xDC80});              // overlong
  CHECK(code_points("\xE0\x80\xAF") == std::u32string{0xDCE0, 0xDC80, 0xDCAF});  // overlong
  CHECK(code_points("\xED\xA0\x80") == std::u32string{0xDCED, 0xDCA0, 0xDC80});  // a surrogate
  CHECK(code_points("\xF4\x90\x80\x80").size() == 4);                            // above U+10FFFF
  CHECK(code_points("\xE2\x82") == std::u32string{0xDCE2, 0xDC82});              // cut off
  CHECK(code_points("\xC3(") == std::u32string{0xDCC3, '('});                    // interrupted
  CHECK_THROWS_WITH_AS(to_utf8(std::u32string{0xD800}), "to_utf8: U+D800 is not a character", Error);
  CHECK_THROWS_AS(to_utf8(std::u32string{0x110000}), Error);
}

TEST_CASE("converting any bytes to code points and back changes nothing") {
  std::uint64_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bytes += static_cast<char>(round % 2 == 0 ? state >> 56 : 0x80 | (state >> 57));
    }
    REQUIRE(to_utf8(code_points(bytes)) == bytes);
  }
}

TEST_CASE("a vocabulary is sorted and encodes both ways") {
  const Vocabulary vocabulary(code_points("hello\nh\xC3\xA9"));
  CHECK(vocabulary.characters() == U"\nehlo\u00E9");
  const auto tokens = vocabulary.encode(std::string_view("hol\xC3\xA9"));
  CHECK(tokens == Tokens{2, 4, 3, 5});
  CHECK(vocabulary.decode(std::span(tokens)) == "hol\xC3\xA9");
  CHECK_THROWS_WITH_AS(vocabulary.encode(std::string_view("hex")),
                       "Vocabulary::encode: U+0078 is not among the 6 characters of the vocabulary", Error);
  const std::vector<std::int64_t> bad{0, 6}, negative{-1};
  CHECK_THROWS_WITH_AS(vocabulary.decode(std::span(bad)), "Vocabulary::decode: token 6 is outside 0..5",
                       Error);
  CHECK_THROWS_WITH_AS(vocabulary.decode(std::span(negative)), "Vocabulary::decode: token -1 is outside 0..5",
                       Error);
  CHECK_THROWS_WITH_AS(vocabulary.decode(Tokens{5, -2}), "Vocabulary::decode: token -2 is outside 0..5",
                       Error);
}

TEST_CASE("tokens convert to a tensor") {
  const TextData text = split_text("abcabcabcabcabcabcabcabc", 3, 0.5);
  const auto [x, y] = data::text_windows(text.train, 4);
  CHECK(x.shape() == Shape{8, 4});
  CHECK(y[0].to_vector<int>() == std::vector{1, 2, 0, 1});
  const Tensor ids = text.vocabulary.encode("cab");
  CHECK(ids.dtype() == i64);
  CHECK(ids.to_vector<int>() == std::vector{2, 0, 1});
  CHECK(text.vocabulary.decode(ids) == "cab");
  CHECK(text.vocabulary.decode(text.vocabulary.encode("cab")) == "cab");
  CHECK_THROWS_WITH_AS(
      text.vocabulary.decode(ids.reshape({1, 3})),
      "Vocabulary::decode: expects tokens i64 [N], got i64 [1, 3]; a row of a batch is tokens[0]", Error);
  CHECK_THROWS_AS(text.vocabulary.decode(ids.to(f32)), Error);
  CHECK_THROWS_AS(text.vocabulary.decode(Tensor()), Error);
}

TEST_CASE("a text is split nine to one by characters, not bytes") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\xC3\xA9x";
  const TextData data = split_text(text, 9);
  CHECK(data.train.size() == 90);
  CHECK(data.validation.size() == 10);
  CHECK(data.vocabulary.size() == 2);
  CHECK(data.vocabulary.decode(std::span(data.train)) + data.vocabulary.decode(std::span(data.validation)) ==
        text);
}

TEST_CASE("unusable texts are rejected with the reason") {
  CHECK_THROWS_WITH_AS(split_text("", 8), "split_text: the text is empty", Error);
  CHECK_THROWS_WITH_AS(split_text(std::string(100, 'x'), 10),
                       "split_text: the text is too short: its 100 characters split into 90 for training and "
                       "10 for validation, and "
                       "a context of 10 needs at least 11 in each; use a longer text or a shorter context",
                       Error);
  for (const double share : {1.5, 1.0, 0.0, -0.5, std::nan("")})
    CHECK_THROWS_WITH_AS(
        split_text("abc", 1, share),
        ("split_text: expects a training share between 0 and 1, got " + fmt::format("{}", share)).c_str(),
        Error);
  CHECK_THROWS_AS(split_text("abc", 0), Error);
  CHECK_THROWS_WITH_AS(split_text("abc", INT64_MAX), doctest::Contains("needs at least 9223372036854775808"),
                       Error);
  const test::ScratchFolder folder;
  replace_file(folder / "empty.txt", "");
  CHECK_THROWS_WITH_AS(load_text(folder / "empty.txt", 8),
                       ("split_text: " + (folder / "empty.txt").string() + " is empty").c_str(), Error);
  CHECK_THROWS_WITH_AS(load_text(folder / "missing.txt", 8), doctest::Contains("load_text: cannot open"),
                       Error);
}

TEST_CASE("a file that is not text is rejected") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "book.zip").string();
  replace_file(file, std::string("PK\3\4\0\0 and so on", 16));
  const std::string wrong = file + " is not a text: byte 4 is 0; unpack an archive, convert UTF-16 to UTF-8";
  CHECK_THROWS_WITH_AS(read_text(file, "--text"), ("--text: " + wrong).c_str(), Error);
  replace_file(file, "caf\xe9, in an older code");
  CHECK(read_text(file) == "caf\xe9, in an older code");
  replace_file(file,
               "\xEF\xBB\xBF"
               "abababab");
  CHECK(read_text(file) == "abababab");
  CHECK(load_text(file, 1, 0.5).vocabulary.size() == 2);  // the mark of an editor is no character
}
