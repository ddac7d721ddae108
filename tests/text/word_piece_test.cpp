#include "gradus/text/word_piece.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/text/train.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::text_golden;

namespace {

WordPiece small_word_piece(const WordPieceOptions& options = {}) {
  return WordPiece(text_golden()["word_piece"]["tokens"].get<std::vector<std::string>>(), options);
}

std::vector<std::string> tokens_of(const WordPiece& bert, std::string_view text) {
  std::vector<std::string> tokens;
  for (const std::int64_t id : bert.encode(text)) tokens.push_back(bert.token(id));
  return tokens;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("WordPiece: the tokens of an independent program") {
  const auto& golden = text_golden();
  const WordPiece lower = small_word_piece(), cased = small_word_piece({.lowercase = false});
  for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
    const auto text = golden["texts"][i].get<std::string>();
    CAPTURE(text);
    CHECK(lower.encode(text) == golden["word_piece"]["lower"][i].get<Ids>());
    CHECK(cased.encode(text) == golden["word_piece"]["cased"][i].get<Ids>());
  }
}

TEST_CASE("WordPiece: the longest piece first, the whole word or unknown") {
  const WordPiece bert({"[PAD]",  "[UNK]", "[CLS]", "[SEP]",  "[MASK]", "un", "##aff",
                        "##able", "##a",   "want",  "##want", "##ed",   "wa", "runn",
                        "##ing",  ",",     "low",   "##est",  "中",     "é",  "e"});
  CHECK(tokens_of(bert, "unaffable") == Words{"un", "##aff", "##able"});
  CHECK(tokens_of(bert, "UNwant\u00E9d,running") == Words{"un", "##want", "##ed", ",", "runn", "##ing"});
  CHECK(tokens_of(bert, "lower lowest") == Words{"[UNK]", "low", "##est"});
  CHECK(tokens_of(bert, "un中un") == Words{"un", "中", "un"});
  CHECK(tokens_of(bert, "un\u200b\x07want\u00a0low\u2028low") == Words{"un", "##want", "low", "low"});
  CHECK(tokens_of(bert, std::string(100, 'e')) == Words{"[UNK]"});
  CHECK(tokens_of(bert, "\u00C9") == Words{"e"});
  CHECK(tokens_of(bert, "low[MASK]low [mask]") == Words{"low", "[MASK]", "low", "[UNK]", "[UNK]", "[UNK]"});
  CHECK(bert.encode("") == Ids{});
  CHECK(bert.encode(" \n") == Ids{});

  const WordPiece other({"[UNK]", "a", "##a", "É", "é", "中国"},
                        {.strip_accents = false, .space_cjk = false, .longest_word = 3});
  CHECK(tokens_of(other, "\u00C9 中国") == Words{"é", "中国"});
  CHECK(tokens_of(other, "aaa aaaa") == Words{"a", "##a", "##a", "[UNK]"});
}

TEST_CASE("WordPiece: text that is not cleaned, bytes that are not UTF-8, the Turkish I") {
  const std::vector<std::string> tokens{"[UNK]",    "a",      "##b", "b",      "a\x07",
                                        "##\uFFFD", "\uFFFD", "i",   "i\u0307"};
  const WordPiece clean(tokens), raw(tokens, {.clean = false}), accents(tokens, {.strip_accents = false});
  const std::string text = "A\x07 a\377b \377 a\u0085b";
  CHECK(tokens_of(clean, text) == Words{"a", "a", "##b", "a", "##b"});
  CHECK(tokens_of(raw, text) == Words{"a\x07", "a", "##\uFFFD", "##b", "\uFFFD", "a", "b"});
  CHECK(tokens_of(clean, "\u0130") == Words{"i"});
  CHECK(tokens_of(accents, "\u0130") == Words{"i\u0307"});
}

TEST_CASE("WordPiece: decoding") {
  const WordPiece bert({"[UNK]", "[CLS]", "[SEP]", "don", "'", "t", "un", "##able", ".", "we", "re"});
  CHECK(bert.decode(bert.encode("Unable. Don't")) == "unable. don't");
  CHECK(bert.decode(bert.encode("We're.")) == "we're.");
  CHECK(bert.decode(Ids{1, 6, 2}, {.skip_special = true}) == "un");
  CHECK(bert.bytes(7) == "able");
  CHECK(bert.bytes(6) == " un");
  CHECK(WordPiece({"[UNK]", "##"}).bytes(1) == " ##");  // a word, not a piece
}

TEST_CASE("WordPiece: pairs of sentences") {
  const WordPiece bert({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"});
  const Encoding one = bert.encode_pair("a b");
  CHECK(one.ids == Ids{2, 4, 5, 3});
  CHECK(one.token_types == Ids{0, 0, 0, 0});
  const Encoding two = bert.encode_pair("a b", "b");
  CHECK(two.ids == Ids{2, 4, 5, 3, 5, 3});
  CHECK(two.token_types == Ids{0, 0, 0, 0, 1, 1});
  CHECK(bert.encode_pair("a a a a", "b b", 7).ids == Ids{2, 4, 4, 3, 5, 5, 3});
  CHECK(bert.encode_pair("a a a", "b b b", 8).ids == Ids{2, 4, 4, 4, 3, 5, 5, 3});
  CHECK(bert.encode_pair("a a a", {}, 4).ids == Ids{2, 4, 4, 3});
  CHECK(bert.encode_pair("", "").ids == Ids{2, 3, 3});
  CHECK_THROWS_WITH_AS(bert.encode_pair("a", "b", 2),
                       "Tokenizer::encode_pair: expects max_length of at least 3, got 2", Error);
  CHECK_THROWS_WITH_AS(WordPiece({"[UNK]", "[CLS]"}).encode_pair("a"),
                       "Tokenizer::encode_pair: WordPiece has no [SEP]; expects BERT's [CLS] and [SEP]",
                       Error);
}

TEST_CASE("pairs of sentences for any tokenizer") {
  const test::ScratchFolder folder;
  WordPiece({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"}).save(folder.path());
  const Encoding pair = load_tokenizer(folder.path())->encode_pair("a b", "b", 5);
  CHECK(pair.ids == Ids{2, 4, 3, 5, 3});
  CHECK(pair.token_types == Ids{0, 0, 0, 1, 1});
  const ByteLevelBPE bpe = train_byte_level_bpe({std::string("a b")}, {.special_tokens = {"<s>", "</s>"}});
  CHECK_THROWS_WITH_AS(bpe.encode_pair("a"),
                       "Tokenizer::encode_pair: ByteLevelBPE has no [CLS]; expects BERT's [CLS] and [SEP]",
                       Error);
  // RoBERTa's tokens have these roles, but another order.
  bpe.save(folder / "roberta");
  test::write_text(folder / "roberta/special_tokens_map.json",
                   R"({"cls_token": "<s>", "sep_token": "</s>"})");
  const auto roberta = load_tokenizer(folder / "roberta");
  CHECK(roberta->special().cls == 0);
  CHECK_THROWS_WITH_AS(roberta->encode_pair("a"), doctest::Contains("has no [CLS]; expects BERT's"), Error);
}

TEST_CASE("WordPiece: errors") {
  CHECK_THROWS_WITH_AS(
      WordPiece({"a", "b"}),
      "WordPiece: the vocabulary has no '[UNK]', the token for unknown words: is it complete?", Error);
  CHECK_THROWS_AS(WordPiece({"[UNK]"}, {.prefix = ""}), Error);
  CHECK_THROWS_AS(WordPiece({"[UNK]"}, {.longest_word = 0}), Error);
  CHECK_THROWS_AS(WordPiece({"[UNK]", "a", "a"}), Error);
  CHECK_THROWS_AS(WordPiece({"[UNK]", ""}), Error);
}
