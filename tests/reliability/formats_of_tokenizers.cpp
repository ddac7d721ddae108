// Tokenizers in every form, as formats.h has them, each beside the ids of a text when it was written.

#include <doctest/doctest.h>

#include "gradus/core/io/safetensors.h"
#include "gradus/text/text.h"
#include "reliability/formats.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

const char* const kIds = "ids.safetensors";
const std::string kSample = "The trains run on time, na\u00efve theme";

void write_tokenizer(const text::Tokenizer& tokenizer, const fs::path& folder) {
  tokenizer.save(folder);
  save_safetensors(folder / kIds, {{"ids", from_vector(tokenizer.encode(kSample))}});
}

void read_tokenizer(const fs::path& folder) {
  const auto tokenizer = text::load_tokenizer(folder);
  const text::Ids expected = load_safetensors(folder / kIds).at("ids").to_vector<std::int64_t>();
  CHECK(tokenizer->encode(kSample) == expected);
  CHECK(tokenizer->decode(tokenizer->encode("the theme")) == "the theme");
}

text::ByteLevelBPE byte_level_bpe() {
  return text::train_byte_level_bpe({kSample + "the theme of the thesis <s>"},
                                    {.vocab = 268, .special_tokens = {"<pad>", "<s>", "</s>"}});
}

void write_two_files(const fs::path& folder) {
  write_tokenizer(byte_level_bpe(), folder);
  fs::remove(folder / "tokenizer.json");
}

void write_word_piece(const fs::path& folder) {
  write_tokenizer(text::train_word_piece({kSample + " the theme of the thesis"}, {.vocab = 50}), folder);
}

void write_vocabulary(const fs::path& folder) {
  write_word_piece(folder);
  fs::remove(folder / "tokenizer.json");
}

void write_sentence_piece(const fs::path& folder) {
  write_tokenizer(text::SentencePiece(source_file("tests/text/golden/spiece.model"), {.extra_ids = 3}),
                  folder);
}

}  // namespace

std::vector<Format> formats_of_tokenizers() {
  return {{"tokenizers/bpe", [](const fs::path& folder) { write_tokenizer(byte_level_bpe(), folder); },
           read_tokenizer},
          {"tokenizers/bpe_in_two_files", write_two_files, read_tokenizer},
          {"tokenizers/word_piece", write_word_piece, read_tokenizer},
          {"tokenizers/word_piece_vocabulary", write_vocabulary, read_tokenizer},
          {"tokenizers/sentence_piece", write_sentence_piece, read_tokenizer}};
}

}  // namespace gradus::test
