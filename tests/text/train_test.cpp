#include "gradus/text/train.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/text/detail/learn_merges.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::text_golden;

namespace {

std::vector<std::string> all_tokens(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (std::int64_t id = 0; id < tokenizer.vocab_size(); ++id) tokens.push_back(tokenizer.token(id));
  return tokens;
}

}  // namespace

TEST_CASE("training a byte-level BPE: the tokens and merges of a simple program") {
  const std::vector<std::string> texts{test::sample_text()};
  const ByteLevelBPE bpe = train_byte_level_bpe(texts, {.vocab = 400, .special_tokens = {"<pad>", "<s>"}});
  const auto& golden = text_golden()["bpe"];
  CHECK(all_tokens(bpe) == golden["tokens"].get<std::vector<std::string>>());
  const test::ScratchFolder folder;
  bpe.save(folder.path());
  std::string merges = "#version: 0.2\n";
  for (const auto& merge : golden["merges"])
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  CHECK(test::read_text(folder / "merges.txt") == merges);
  CHECK(bpe.encode("<s> the").size() == 2);
}

TEST_CASE("training a WordPiece: the tokens of a simple program") {
  const std::vector<std::string> texts{test::sample_text()};
  const WordPiece bert = train_word_piece(texts, {.vocab = 300});
  CHECK(all_tokens(bert) == text_golden()["word_piece"]["tokens"].get<std::vector<std::string>>());
  CHECK(all_tokens(train_word_piece({texts[0]}, {.vocab = 300})) == all_tokens(bert));
}

TEST_CASE("training: overlapping pairs, ties, lists of texts") {
  const auto merged = [](const std::vector<std::string>& texts, std::int64_t more) {
    const ByteLevelBPE bpe = train_byte_level_bpe(texts, {.vocab = 256 + more, .min_frequency = 1});
    std::vector<std::string> tokens = all_tokens(bpe);
    return std::vector<std::string>(tokens.begin() + 256, tokens.end());
  };
  using Tokens = std::vector<std::string>;
  CHECK(merged({"aaaaa"}, 9) == Tokens{"aa", "aaa", "aaaaa"});
  CHECK(merged({"dcba"}, 1) == Tokens{"ba"});  // three pairs of one: that of the smallest ids
  CHECK(merged({"ab", "ab", "bc"}, 2) == Tokens{"ab", "bc"});
  CHECK(merged({}, 9).empty());
  CHECK(merged({"a", "b", ""}, 9).empty());
  const std::vector<std::string> whole{test::sample_text()};
  CHECK(all_tokens(train_byte_level_bpe(whole)) == all_tokens(train_byte_level_bpe(whole)));
  CHECK(train_byte_level_bpe(whole).vocab_size() < 8000);  // no pair is left that appears twice
}

TEST_CASE("training: a merge whose result is a symbol already makes its pairs more frequent") {
  using Learner = text::detail::MergeLearner;
  using Pair = Learner::Pair;
  Learner learner({{{0, 1}, 3}, {{2, 3, 1}, 5}}, 1);
  Pair pair{};
  CHECK(learner.next(pair));
  CHECK(pair == Pair{2, 3});
  learner.merge(pair, 0);  // the second word is now 0, 1
  CHECK(learner.next(pair));
  CHECK(pair == Pair{0, 1});
  learner.merge(pair, 4);
  CHECK(!learner.next(pair));
  learner.merge({7, 8}, 9);  // in no word
  CHECK(!learner.next(pair));
}

TEST_CASE("training a WordPiece: the alphabet is limited, words with other characters are ignored") {
  const std::vector<std::string> texts{"abab abab abab abz"};
  const WordPiece bert = train_word_piece(texts, {.vocab = 100, .alphabet = 2});
  CHECK(!bert.find("z"));
  CHECK(!bert.find("##z"));
  CHECK(bert.find("abab"));
  CHECK(bert.encode("abz") == Ids{*bert.special().unk});
}

TEST_CASE("training: errors") {
  const std::vector<std::string> texts{"some text"};
  CHECK_THROWS_WITH_AS(
      train_byte_level_bpe(texts, {.vocab = 100}),
      "train_byte_level_bpe: expects a vocab of at least 256, for the bytes and the special tokens, got 100",
      Error);
  CHECK_THROWS_WITH_AS(
      train_word_piece(texts, {.vocab = 5}),
      "train_word_piece: expects a vocab of at least 16, for the special tokens and the alphabet, got 5",
      Error);
  CHECK_THROWS_WITH_AS(train_byte_level_bpe(texts, {.special_tokens = {"<s>", "<s>"}}),
                       "train_byte_level_bpe: the special token '<s>' is given twice", Error);
  CHECK_THROWS_AS(train_byte_level_bpe(texts, {.special_tokens = {""}}), Error);
  CHECK_THROWS_AS(train_word_piece(texts, {.alphabet = 0}), Error);
  CHECK_THROWS_AS(train_word_piece(texts, {.options = {.special_tokens = {}}}), Error);
}
