#include "gradus/text/sentence_piece.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;

namespace {

const std::filesystem::path kModel = test::source_file("tests/text/golden/spiece.model");

/// The model with a piece <0x00>, <0x01>, ... for each byte at the end.
std::string with_bytes(std::string model) {
  const std::string letters = "0123456789ABCDEF";
  for (std::size_t byte = 0; byte < 256; ++byte) {
    model += "\x0A\x0F\x0A\x06<0x";
    model.append({letters[byte / 16], letters[byte % 16], '>'});
    model += std::string("\x15\0\0\0\0\x18\x06", 7);
  }
  return model + "\x12\x03\x98\x02\x01";  // byte_fallback
}

}  // namespace

TEST_CASE("SentencePiece: the ids of its own program, and decoding") {
  const SentencePiece plain(kModel);
  const std::string text = "The vorpal blade durch Nacht";
  CHECK(plain.encode(text) == Ids{30, 18, 3, 81, 66, 36, 56, 14, 12, 127, 4, 57, 11, 35, 82, 60, 114});
  CHECK(plain.decode(plain.encode(text)) == text);
  CHECK(plain.token(30) == "▁T");
  CHECK(plain.bytes(30) == " T");
  CHECK(plain.special().pad == 0);
  CHECK(plain.special().eos == 1);
  CHECK(plain.special().unk == 2);
  CHECK(!plain.special().bos);
  CHECK(plain.encode("") == Ids{});
  CHECK(plain.encode("a</s>").back() == 1);
  CHECK(plain.encode_ordinary("a</s>").back() != 1);
  CHECK(plain.decode(Ids{30, 18, 1}, {.skip_special = true}) == "The");
  CHECK(plain.encode("\u4E2D") == Ids{3, 2});
  plain.encode(std::string("\xFF\0x", 3));  // any bytes will do
}

TEST_CASE("SentencePiece: special tokens among others") {
  const SentencePiece t5(kModel, {.extra_ids = 2});
  const std::int64_t extra = t5.id("<extra_id_0>");
  CHECK(t5.decode(Ids{30, 18, 1}) == "The </s>");
  CHECK(t5.decode(Ids{1, 30, 18, extra}) == "</s> The <extra_id_0>");
  CHECK(t5.decode(Ids{1, 3, 1}) == "</s> </s>");  // a space alone is no text
  CHECK(t5.bytes(1) == "</s>");
  CHECK(t5.bytes(extra) == "<extra_id_0>");
}

TEST_CASE("SentencePiece: a character without a piece is encoded as its bytes, if the model has them") {
  const test::ScratchFolder folder;
  test::write_text(folder / "tokenizer.model", with_bytes(test::read_text(kModel)));
  const auto llama = load_tokenizer(folder.path());
  CHECK(llama->vocab_size() == 150 + 256);
  CHECK(llama->encode("\u4E2D") == Ids{3, 150 + 0xE4, 150 + 0xB8, 150 + 0xAD});
  CHECK(llama->decode(Ids{3, 150 + 0xE4, 150 + 0xB8, 150 + 0xAD}) == "\u4E2D");
  CHECK(llama->token(150 + 0xE4) == "<0xE4>");
  for (int byte = 0; byte < 256; ++byte)
    CHECK(llama->bytes(150 + byte) == std::string(1, static_cast<char>(byte)));
}

TEST_CASE("SentencePiece: T5's extra ids") {
  const SentencePiece plain(kModel), t5(kModel, {.extra_ids = 100});
  const std::int64_t size = plain.vocab_size();
  CHECK(t5.vocab_size() == size + 100);
  CHECK(t5.id("<extra_id_0>") == size + 99);
  CHECK(t5.id("<extra_id_99>") == size);
  Ids expected = plain.encode("The");
  expected.push_back(size + 99);
  for (const std::int64_t id : plain.encode("blade")) expected.push_back(id);
  CHECK(t5.encode("The <extra_id_0> blade") == expected);
  CHECK(t5.decode(expected) == "The <extra_id_0> blade");
  CHECK(t5.decode(expected, {.skip_special = true}) == "The blade");
  CHECK(t5.is_special(size + 3));
}

TEST_CASE("SentencePiece: saving and loading") {
  const test::ScratchFolder folder;
  SentencePiece(kModel, {.extra_ids = 7}).save(folder / "t5");
  SentencePiece(kModel).save(folder / "llama");
  CHECK(load_tokenizer(folder / "t5")->find("<extra_id_6>"));
  CHECK(!load_tokenizer(folder / "t5")->find("<extra_id_7>"));
  CHECK(!load_tokenizer(folder / "llama")->find("<extra_id_0>"));
  CHECK(test::read_text(folder / "llama" / "tokenizer.model") == test::read_text(kModel));
  test::write_text(folder / "llama" / "added_tokens.json", R"({"<new>": 150})");
  test::write_text(folder / "llama" / "special_tokens_map.json", R"({"mask_token": "<new>"})");
  load_tokenizer(folder / "llama")->save(folder / "again");
  const auto again = load_tokenizer(folder / "again");
  CHECK(again->encode("The<new>") == Ids{30, 18, 150});
  CHECK(again->decode(Ids{30, 18, 150}) == "The <new>");
  CHECK(again->is_special(150));
  CHECK(again->special().mask == 150);
  test::write_text(folder / "again" / "added_tokens.json", R"({"<far>": 160})");
  load_tokenizer(folder / "again")->save(folder / "gaps");
  CHECK(test::read_text(folder / "gaps" / "added_tokens.json") == "{\n  \"<far>\": 160\n}\n");
  CHECK(load_tokenizer(folder / "gaps")->encode("The<far>") == Ids{30, 18, 160});
  std::filesystem::remove(folder / "t5" / "tokenizer_config.json");
  std::filesystem::remove(folder / "t5" / "special_tokens_map.json");
  CHECK(load_tokenizer(folder / "t5")->find("<extra_id_99>"));
}

TEST_CASE("SentencePiece: errors") {
  const test::ScratchFolder folder;
  CHECK_THROWS_AS(SentencePiece(folder / "none.model"), Error);
  CHECK_THROWS_AS(SentencePiece(kModel, {.extra_ids = -1}), Error);
  CHECK_THROWS_WITH_AS(SentencePiece(kModel, {.extra_ids = 10'001}),
                       "SentencePiece: expects extra_ids in 0..10000, got 10001", Error);
  CHECK_THROWS_WITH_AS(
      SentencePiece::load(folder.path()),
      ("SentencePiece: " + folder.path().string() + " has neither spiece.model nor tokenizer.model").c_str(),
      Error);
  const std::string bytes = test::read_text(kModel);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    test::write_text(folder / "cut.model", std::string_view(bytes).substr(0, size));
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(SentencePiece(folder / "cut.model"),
                         doctest::Contains("cut.model: this is not a SentencePiece model"), Error);
  }
}

TEST_CASE("SentencePiece: an exception of the library becomes an error that names the file") {
  // A piece that begins with a zero byte is, to the trie of all pieces, a key of no length.
  std::string bytes = test::read_text(kModel);
  const std::string piece = "\u2581T";
  const std::size_t at = bytes.find("\n" + std::string(1, static_cast<char>(piece.size())) + piece);
  REQUIRE(at != std::string::npos);
  bytes[at + 2] = '\0';
  const test::ScratchFolder folder;
  for (const char* name : {"spiece.model", "source.spm", "target.spm"})
    test::write_text(folder / name, bytes);
  const char* const message = "spiece.model: this is not a SentencePiece model, or it is cut short: ";
  CHECK_THROWS_WITH_AS(SentencePiece(folder / "spiece.model"), doctest::Contains(message), Error);
  CHECK_THROWS_WITH_AS(load_tokenizer(folder.path()), doctest::Contains(message), Error);
  std::filesystem::remove(folder / "spiece.model");
  test::write_text(folder / "vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": 2})");
  CHECK_THROWS_WITH_AS(
      load_tokenizer(folder.path()),
      doctest::Contains("source.spm: this is not a SentencePiece model, or it is cut short: "), Error);
}

TEST_CASE("SentencePiece: a model with any byte changed is read or rejected, and throws nothing else") {
  const std::string bytes = test::read_text(kModel);
  const test::ScratchFolder folder;
  for (std::size_t at = 0; at < bytes.size(); at += 13)
    for (const char byte : {'\0', '\xff', 'a'}) {
      std::string changed = bytes;
      changed[at] = byte;
      test::write_text(folder / "m.model", changed);
      CAPTURE(at);
      try {
        const SentencePiece read(folder / "m.model");
        (void)read.decode(read.encode("The vorpal blade"));
      } catch (const Error&) {
      }
    }
}
