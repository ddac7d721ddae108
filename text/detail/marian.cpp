#include "gradus/text/detail/marian.h"

#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/parts.h"
#include "gradus/text/detail/pieces.h"

namespace gradus::text::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarian = "Marian's tokenizer";

struct Pieces {
  explicit Pieces(const fs::path& path) : bytes(read_file(kMarian, path)) {
    load_pieces(processor, bytes, std::string(kMarian) + ": " + named(path));
  }
  std::string bytes;
  sentencepiece::SentencePieceProcessor processor;
};

std::string with_spaces(std::string text) {
  static constexpr std::string_view kUnderline = "\u2581";  // "▁"
  for (std::size_t at = 0; (at = text.find(kUnderline, at)) != std::string::npos; ++at)
    text.replace(at, kUnderline.size(), " ");
  return text;
}

class Marian : public Tokenizer {
 public:
  Marian(std::shared_ptr<const Tokens> tokens, const fs::path& folder)
      : Tokenizer(std::move(tokens)),
        source_(std::make_shared<Pieces>(folder / "source.spm")),
        target_(std::make_shared<Pieces>(folder / "target.spm")) {}

  std::string bytes(std::int64_t id) const override {
    const std::string& token = tokens_->token(id, "Tokenizer::bytes");
    return tokens_->added(id) ? token : with_spaces(token);
  }

  void save(const fs::path& folder) const override {
    const char* who = "Tokenizer::save";
    io::make_folder(who, folder.string());
    write_file(who, folder / "source.spm", source_->bytes);
    write_file(who, folder / "target.spm", target_->bytes);
    write_file(who, folder / "vocab.json", vocabulary_json(*tokens_));
    write_file(who, folder / "special_tokens_map.json", special_tokens_map(*tokens_));
    write_file(who, folder / "tokenizer_config.json", "{\"tokenizer_class\": \"MarianTokenizer\"}\n");
  }

 protected:
  void encode_plain(std::string_view text, Ids& out) const override {
    std::vector<std::string> pieces;
    const auto status = source_->processor.Encode(std::string(text), &pieces);
    check(status.ok(), "Tokenizer::encode: {}", io::printable(status.ToString()));
    for (const std::string& piece : pieces)
      out.push_back(tokens_->find(piece).value_or(*tokens_->special().unk));
  }

  std::string join(std::span<const std::int64_t> ids) const override {
    std::string text;
    std::vector<std::string> run;
    const auto add = [&](const std::string& part) {
      if (!text.empty()) text += ' ';
      text += part;
    };
    const auto end_run = [&] {
      std::string part;
      const auto status = target_->processor.Decode(run, &part);
      check(status.ok(), "Tokenizer::decode: {}", io::printable(status.ToString()));
      run.clear();
      part = with_spaces(std::move(part));  // for pieces that the target's model does not have
      const std::size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
      if (first != std::string::npos) add(part.substr(first, last - first + 1));
    };
    for (const std::int64_t id : ids) {
      if (!tokens_->added(id)) {
        run.push_back(token(id));
        continue;
      }
      end_run();
      add(token(id));
    }
    end_run();
    return text;
  }

 private:
  std::shared_ptr<const Pieces> source_, target_;
};

}  // namespace

std::shared_ptr<const Tokenizer> load_marian(const fs::path& folder) {
  for (const char* const name : {"source.spm", "target.spm", "vocab.json"})
    check(exists(kMarian, folder / name), "{}: {} has no {}: expects source.spm, target.spm and vocab.json",
          kMarian, named(folder), name);
  check(!exists(kMarian, folder / "target_vocab.json"),
        "{}: {} has a target_vocab.json: two vocabularies are not supported", kMarian, named(folder));
  const auto tokens = std::make_shared<Tokens>(std::string(kMarian) + ": " + named(folder / "vocab.json"));
  add_vocabulary(*tokens, read_json(kMarian, folder / "vocab.json"));
  for (const char* const special : {"</s>", "<unk>", "<pad>"})
    check(tokens->find(special).has_value(), "{}: has no token {}", tokens->who(), special);
  for (const char* const special : {"</s>", "<unk>", "<pad>"}) tokens->mark(special);
  for (std::int64_t id = 0; id < tokens->size(); ++id)
    if (tokens->has(id))
      if (const std::string token = tokens->token(id, kMarian);
          token.starts_with(">>") && token.ends_with("<<"))
        tokens->mark(token, {.special = false, .strip_after = true});
  read_special_files(*tokens, folder);
  return std::make_shared<Marian>(tokens, folder);
}

}  // namespace gradus::text::detail
