#include <algorithm>
#include <system_error>

#include "gradus/core/io/printable.h"
#include "gradus/text/byte_level_bpe.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/marian.h"
#include "gradus/text/detail/parts.h"
#include "gradus/text/sentence_piece.h"
#include "gradus/text/tokenizer.h"
#include "gradus/text/word_piece.h"

namespace gradus::text {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kPadding = 1024;  // allowed unused rows of an embedding; Phi 2 has 905

/// If the folder has a config.json, it describes the model of this tokenizer.
void compare_with_model(const Tokenizer& tokenizer, const fs::path& folder) {
  const fs::path path = folder / "config.json";
  if (!detail::exists("load_tokenizer", path)) return;
  const detail::Json json = detail::read_json("load_tokenizer", path);
  const detail::Keys config(json, "load_tokenizer: " + detail::named(path));
  if (!config.has("vocab_size")) return;
  const auto rows = config.need<std::int64_t>("vocab_size");
  const std::int64_t size = tokenizer.vocab_size();
  check(rows >= size && rows - size < kPadding,
        "{}: \"vocab_size\" is {}, but the tokenizer in this folder has {} tokens: {}", config.where(), rows,
        size, rows < size ? "do both belong to one model?" : "is its file cut short?");
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const fs::path& folder) {
  check(detail::is_folder(folder), "load_tokenizer: {} is not a folder", detail::named(folder));
  const auto has = [&](const char* name) { return detail::exists("load_tokenizer", folder / name); };
  std::shared_ptr<const Tokenizer> tokenizer;
  if (has("spiece.model") || has("tokenizer.model")) {
    tokenizer = std::make_shared<SentencePiece>(SentencePiece::load(folder));
  } else if (has("source.spm") || has("target.spm")) {
    tokenizer = detail::load_marian(folder);
  } else if (has("tokenizer.json")) {
    const std::string who = "load_tokenizer: " + detail::named(folder / "tokenizer.json");
    const detail::Json json = detail::read_json("load_tokenizer", folder / "tokenizer.json");
    const std::string type = detail::model_type(json, who);
    if (type == "BPE") {
      auto parts = detail::bpe_from_json(json, who);
      detail::read_special_files(parts.tokens, folder);
      tokenizer = std::make_shared<ByteLevelBPE>(ByteLevelBPE(std::move(parts)));
    } else if (type == "WordPiece") {
      auto parts = detail::word_piece_from_json(json, who);
      detail::read_special_files(parts.tokens, folder);
      tokenizer = std::make_shared<WordPiece>(WordPiece(std::move(parts)));
    } else {
      fail_with(
          "{}: a model of type {} is not supported; expects BPE or WordPiece; for Unigram add its "
          "spiece.model",
          who, io::quote(type));
    }
  } else if (has("vocab.json") || has("encoder.json")) {
    tokenizer = std::make_shared<ByteLevelBPE>(ByteLevelBPE::load(folder));
  } else if (has("vocab.txt")) {
    tokenizer = std::make_shared<WordPiece>(WordPiece::load(folder));
  } else {
    fail_with(
        "load_tokenizer: {} has none of spiece.model, tokenizer.model, source.spm, tokenizer.json, "
        "vocab.json, encoder.json and vocab.txt",
        detail::named(folder));
  }
  compare_with_model(*tokenizer, folder);
  return tokenizer;
}

}  // namespace gradus::text
