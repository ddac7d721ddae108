#include "gradus/text/byte_level_bpe.h"

#include <doctest/doctest.h>

#include <concepts>
#include <random>
#include <thread>

#include "gradus/core/creation.h"
#include "gradus/core/error.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::text_golden;

// load_tokenizer(folder)->token(3) outlives the tokenizer.
static_assert(std::same_as<decltype(std::declval<const Tokenizer&>().token(0)), std::string>);
static_assert(std::same_as<decltype(std::declval<const Tokenizer&>().special()), SpecialIds>);

namespace {

const std::filesystem::path kGpt2 = test::source_file("../shared/data/gpt2");

ByteLevelBPE small_bpe(BPEOptions options = {.special_tokens = {"<pad>", "<s>"}}) {
  const auto& golden = text_golden()["bpe"];
  return ByteLevelBPE(golden["tokens"].get<std::vector<std::string>>(),
                      golden["merges"].get<std::vector<Merge>>(), options);
}

std::string random_bytes(std::mt19937& random, std::size_t longest) {
  std::string bytes(random() % (longest + 1), '\0');
  const bool ascii = random() % 2 == 0;
  for (char& byte : bytes)
    byte = static_cast<char>(ascii && random() % 8 != 0 ? 32 + random() % 95 : random() % 256);
  return bytes;
}

}  // namespace

TEST_CASE("byte-level BPE: the tokens of GPT-2's published vocabulary") {
  if (!std::filesystem::exists(kGpt2)) {
    MESSAGE("skipped: there is no ", kGpt2.string());
    return;
  }
  const ByteLevelBPE gpt2 = ByteLevelBPE::load(kGpt2);
  CHECK(gpt2.vocab_size() == 50257);
  CHECK(gpt2.encode("Hello world") == Ids{15496, 995});
  CHECK(gpt2.special().eos == 50256);
  CHECK(gpt2.encode("a<|endoftext|>b") == Ids{64, 50256, 65});
  CHECK(gpt2.encode_ordinary("<|endoftext|>") == Ids{27, 91, 437, 1659, 5239, 91, 29});
  CHECK(gpt2.token(262) == "Ġthe");
  CHECK(gpt2.bytes(262) == " the");
  const auto& texts = text_golden()["texts"];
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    CAPTURE(text);
    CHECK(gpt2.encode(text) == text_golden()["gpt2"][i].get<Ids>());
    CHECK(gpt2.decode(gpt2.encode(text)) == text);
  }
}

TEST_CASE("byte-level BPE: a small vocabulary, GPT-2's pattern and Llama 3's") {
  const auto& golden = text_golden();
  const ByteLevelBPE gpt2 = small_bpe();
  const ByteLevelBPE llama3 = small_bpe({.patterns = {golden["bpe"]["llama3_pattern"]}});
  for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
    const auto text = golden["texts"][i].get<std::string>();
    CAPTURE(text);
    CHECK(gpt2.encode(text) == golden["bpe"]["ids"][i].get<Ids>());
    CHECK(llama3.encode(text) == golden["bpe"]["llama3"][i].get<Ids>());
  }
}

TEST_CASE("byte-level BPE: decoding restores any bytes") {
  const ByteLevelBPE bpe = small_bpe();
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = random_bytes(random, 60);
    REQUIRE(bpe.decode(bpe.encode_ordinary(bytes)) == bytes);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(bpe.decode(bpe.encode(one)) == one);
  }
  // Bytes that are not UTF-8 are a separate word, and do not change the words around it.
  Ids parts = bpe.encode("the ");
  for (const std::string part : {"\xC3\xFF", " sword"})
    for (const std::int64_t id : bpe.encode(part)) parts.push_back(id);
  CHECK(bpe.encode("the \xC3\xFF sword") == parts);
}

TEST_CASE("byte-level BPE: the first merge first, and of equal ones the leftmost") {
  std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  for (const char* token : {"qq", "qqq", "zq", "qz"}) tokens.push_back(token);
  const ByteLevelBPE bpe(tokens, {{"q", "qq"}, {"q", "z"}, {"q", "q"}, {"z", "q"}});
  const auto ids = [&](const std::vector<const char*>& words) {
    Ids made;
    for (const char* word : words) made.push_back(bpe.id(word));
    return made;
  };
  CHECK(bpe.encode("zqz") == ids({"z", "qz"}));
  CHECK(bpe.encode("qqzq") == ids({"q", "qz", "q"}));
  CHECK(bpe.encode("qqqqq") == ids({"qq", "qq", "q"}));
  CHECK(bpe.encode("qq") == ids({"qq"}));
}

TEST_CASE("byte-level BPE: long words take n log n") {
  const ByteLevelBPE bpe = small_bpe();
  std::string word(1 << 18, 'o');
  for (std::size_t i = 0; i < word.size(); i += 3) word[i] = "the"[i / 3 % 3];
  CHECK(bpe.decode(bpe.encode(word)) == word);
  const std::string blanks(1 << 18, ' ');
  CHECK(bpe.decode(bpe.encode(blanks)) == blanks);
}

TEST_CASE("byte-level BPE: special tokens, the longest first; options") {
  const ByteLevelBPE bpe = small_bpe({.special_tokens = {"<pad>", "<s>", "<s>>"}});
  const std::int64_t last = bpe.vocab_size() - 1;
  CHECK(bpe.id("<s>>") == last);  // new, at the end
  CHECK(bpe.encode("<s>><s><pad>") == Ids{last, 1, 0});
  CHECK(bpe.special().bos == 1);
  CHECK(bpe.special().pad == 0);
  CHECK(!bpe.special().mask);
  CHECK(bpe.is_special(0));
  CHECK(!bpe.is_special(5));
  CHECK(!bpe.is_special(-1));
  CHECK(!bpe.is_special(bpe.vocab_size()));
  CHECK(bpe.decode(std::vector<std::int64_t>{1, bpe.id("a"), 0}) == "<s>a<pad>");
  CHECK(bpe.decode(std::vector<std::int64_t>{1, bpe.id("a"), 0}, {.skip_special = true}) == "a");
  CHECK(bpe.decode(tensor({1, 0})) == "<s><pad>");

  const ByteLevelBPE prefixed = small_bpe({.prefix_space = true});
  CHECK(prefixed.encode("and") == prefixed.encode(" and"));
  CHECK(prefixed.encode("and").size() == 1);
  CHECK(small_bpe().encode("and") != small_bpe().encode(" and"));
  const ByteLevelBPE composed = small_bpe({.compose = true});
  CHECK(composed.encode("a\u0308") == small_bpe().encode("\u00E4"));
  CHECK(composed.encode("\xFF\u0308") == small_bpe().encode("\xFF\u0308"));
}

TEST_CASE("byte-level BPE: with whole_words, a word that is a token needs no merges") {
  std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  tokens.push_back("Ġxyzzy");
  const ByteLevelBPE plain(tokens, {}), whole(tokens, {}, {.whole_words = true});
  CHECK(plain.encode(" xyzzy").size() == 6);
  CHECK(whole.encode(" xyzzy") == Ids{whole.id("Ġxyzzy")});
  CHECK(whole.encode(" xyzzyx").size() == 7);
}

TEST_CASE("byte-level BPE: without a pattern, a text is one word") {
  std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  tokens.push_back("eĠ");
  const std::vector<Merge> merges{{"e", "Ġ"}};
  const ByteLevelBPE words(tokens, merges), whole(tokens, merges, {.patterns = {}});
  const Ids expected{whole.id("eĠ"), whole.id("e")};
  CHECK(words.encode("e e") == Ids{words.id("e"), words.id("Ġ"), words.id("e")});
  CHECK(whole.encode("e e") == expected);
  const test::ScratchFolder folder;
  whole.save(folder.path());
  CHECK(ByteLevelBPE::load(folder.path()).encode("e e") == expected);
}

TEST_CASE("byte-level BPE: a token that is not spelled in the letters of bytes is its own text") {
  std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  for (const char* const token : {"\u4E2D", "a b", "\u00AD"}) tokens.push_back(token);
  const ByteLevelBPE bpe(tokens, {});
  for (const char* const token : {"\u4E2D", "a b", "\u00AD"}) CHECK(bpe.bytes(bpe.id(token)) == token);
  CHECK(bpe.bytes(bpe.id("Ġ")) == " ");
}

TEST_CASE("byte-level BPE: many threads use one") {
  const ByteLevelBPE bpe = small_bpe();
  const std::string text = test::sample_text();
  const Ids expected = small_bpe().encode(text);
  std::vector<Ids> found(4);
  std::vector<std::thread> threads;
  for (Ids& ids : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) ids = bpe.encode(text);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Ids& ids : found) CHECK(ids == expected);
}

TEST_CASE("byte-level BPE: errors") {
  const std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  CHECK_THROWS_WITH_AS(ByteLevelBPE({"a", "b"}, {}),
                       "ByteLevelBPE: no token for byte 0x00, written 'Ā'; expects all 256 bytes: is this a "
                       "byte-level BPE?",
                       Error);
  CHECK_THROWS_WITH_AS(ByteLevelBPE(tokens, {{"q", "q"}}),
                       "ByteLevelBPE: merge 1, 'q' 'q', needs the token 'qq', which is not in the "
                       "vocabulary: do both belong to one model?",
                       Error);
  std::vector<std::string> twice = tokens;
  twice[10] = twice[20];
  CHECK_THROWS_WITH_AS(ByteLevelBPE(twice, {}),
                       ("ByteLevelBPE: token '" + twice[20] + "' appears twice, as 10 and 20").c_str(),
                       Error);
  CHECK_THROWS_WITH_AS(small_bpe({.patterns = {"(a"}}),
                       "ByteLevelBPE: the pattern '(a' is invalid at '': missing closing parenthesis", Error);
  CHECK_THROWS_AS(small_bpe({.patterns = {"a"}, .prefix_space = true}), Error);
  CHECK_THROWS_AS(small_bpe({.special_tokens = {""}}), Error);
  CHECK_THROWS_AS(small_bpe({.special_tokens = {"\xFF"}}), Error);

  const ByteLevelBPE bpe = small_bpe();
  const std::string last = std::to_string(bpe.vocab_size() - 1);
  CHECK_THROWS_WITH_AS(
      bpe.decode(Ids{1, bpe.vocab_size()}),
      ("Tokenizer::decode: id " + std::to_string(bpe.vocab_size()) + " is outside 0.." + last).c_str(),
      Error);
  CHECK_THROWS_WITH_AS(bpe.token(-1), ("Tokenizer::token: id -1 is outside 0.." + last).c_str(), Error);
  CHECK_THROWS_WITH_AS(bpe.id("nowhere"), "Tokenizer::id: 'nowhere' is not among the tokens of ByteLevelBPE",
                       Error);
  CHECK_THROWS_AS(bpe.decode(Tensor()), Error);
  CHECK_THROWS_WITH_AS(bpe.decode(tensor({{1, 2}})),
                       "Tokenizer::decode: expects ids i64 [N], got i64 [1, 2]; a row of a batch is ids[0]",
                       Error);
  CHECK_THROWS_WITH_AS(bpe.decode(tensor({0.5, 1.5})),
                       "Tokenizer::decode: expects ids i64 [N], got f32 [2]; a row of a batch is ids[0]",
                       Error);
  CHECK(!bpe.find("nowhere"));
}
