// Tokenizers' files.

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/text/text.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

/// Words, letters beyond ASCII, special tokens, bytes that are not UTF-8.
const std::string kText =
    "The trains <s>run</s> on time, na\u00efve \u4e2d\u6587 [MASK] 12.5\xff\n<extra_id_0> The end";

text::ByteLevelBPE bpe() {
  return text::train_byte_level_bpe({kText + kText + "the theme of the thesis"},
                                    {.vocab = 270, .special_tokens = {"<pad>", "<s>", "</s>"}});
}
text::WordPiece pieces() {
  return text::train_word_piece({kText + " the theme of the thesis"}, {.vocab = 60});
}

/// Ids are in the vocabulary, and can be decoded; byte-level BPE gives back any text that has no special
/// tokens.
void use_tokenizer(const fs::path& folder) {
  const auto tokenizer = text::load_tokenizer(folder);
  const text::Ids ids = tokenizer->encode(kText);
  for (const std::int64_t id : ids)
    promise(id >= 0 && id < tokenizer->vocab_size(), "an id is not in the vocabulary");
  tokenizer->decode(ids);
  tokenizer->decode(tokenizer->encode_ordinary(kText), {.skip_special = true});
}

/// Saves a tokenizer, removes all files but `kept`, and returns the one that varies.
template <class T>
Seeds form_of(const T& tokenizer, const fs::path& folder, const std::vector<std::string>& kept,
              const std::string& file) {
  tokenizer.save(folder);
  const std::string seed = bytes_of(folder / file);
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder))
    if (std::find(kept.begin(), kept.end(), entry.path().filename()) == kept.end())
      others.push_back(entry.path());
  for (const fs::path& other : others) fs::remove(other);
  return {seed};
}

/// vocab.json and merges.txt of a tokenizer.json.
void split_json(const fs::path& folder) {
  const auto json = nlohmann::json::parse(bytes_of(folder / "tokenizer.json"));
  put(folder / "vocab.json", json["model"]["vocab"].dump());
  std::string merges = "#version: 0.2\n";
  for (const auto& merge : json["model"]["merges"])
    merges += (merge.is_array() ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                : merge.get<std::string>()) +
              "\n";
  put(folder / "merges.txt", merges);
  fs::remove(folder / "tokenizer.json");
}

Seeds split_form(const fs::path& folder, const std::string& file) {
  form_of(bpe(), folder, {"tokenizer.json"}, "tokenizer.json");
  split_json(folder);
  return {bytes_of(folder / file)};
}

Seeds word_piece_form(const fs::path& folder, const std::string& file) {
  pieces().save(folder);
  if (fs::exists(folder / "tokenizer.json")) fs::remove(folder / "tokenizer.json");
  return {bytes_of(folder / file)};
}

Seeds marian(const fs::path& folder) {
  const std::string model = bytes_of(source_file("tests/text/golden/spiece.model"));
  const text::SentencePiece all(source_file("tests/text/golden/spiece.model"));
  put(folder / "source.spm", model);
  put(folder / "target.spm", model);
  nlohmann::json vocab = {{"</s>", 0}, {"<unk>", 1}};
  for (std::int64_t id = 3; id < all.vocab_size(); ++id)
    if (const std::string piece = all.token(id); !vocab.contains(piece)) vocab[piece] = vocab.size();
  vocab["<pad>"] = vocab.size();
  return {vocab.dump()};
}

}  // namespace

std::vector<Reader> readers_of_tokenizers() {
  // A vocabulary may have 2^20 ids, of 32 bytes each, and SentencePiece makes tables of its own.
  constexpr std::size_t kBytes = 80 << 20, kPerByte = 500;
  const auto split = [](const char* file) {
    return [file](const fs::path& folder) { return split_form(folder, file); };
  };
  const auto bert = [](const char* file) {
    return [file](const fs::path& folder) { return word_piece_form(folder, file); };
  };
  return {
      {"tokenizer.bpe", "tokenizer.json",
       [](const fs::path& folder) { return form_of(bpe(), folder, {"tokenizer.json"}, "tokenizer.json"); },
       use_tokenizer, kBytes, kPerByte, true},
      {"tokenizer.word_piece", "tokenizer.json",
       [](const fs::path& folder) { return form_of(pieces(), folder, {"tokenizer.json"}, "tokenizer.json"); },
       use_tokenizer, kBytes, kPerByte, true},
      {"vocab.json", "vocab.json", split("vocab.json"), use_tokenizer, kBytes, kPerByte, true},
      {"merges.txt", "merges.txt", split("merges.txt"), use_tokenizer, kBytes, kPerByte, true},
      {"vocab.txt", "vocab.txt", bert("vocab.txt"), use_tokenizer, kBytes, kPerByte, true},
      {"tokenizer_config", "tokenizer_config.json", bert("tokenizer_config.json"), use_tokenizer, kBytes,
       kPerByte, true},
      {"special_tokens_map", "special_tokens_map.json",
       [](const fs::path& folder) {
         split_form(folder, "vocab.json");
         return Seeds{
             R"({"bos_token":"<s>","eos_token":{"content":"</s>","lstrip":true},"additional_special_tokens":["<pad>"]})"};
       },
       use_tokenizer, kBytes, kPerByte, true},
      {"added_tokens", "added_tokens.json",
       [](const fs::path& folder) {
         split_form(folder, "vocab.json");
         return Seeds{R"({"<new>":270,"<other>":271})"};
       },
       use_tokenizer, kBytes, kPerByte, true},
      {"sentence_piece", "spiece.model",
       [](const fs::path&) { return Seeds{bytes_of(source_file("tests/text/golden/spiece.model"))}; },
       use_tokenizer, kBytes, kPerByte, true},
      {"marian", "vocab.json", marian, use_tokenizer, kBytes, kPerByte, true},
  };
}

}  // namespace gradus::test
