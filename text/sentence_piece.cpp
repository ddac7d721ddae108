#include "gradus/text/sentence_piece.h"

#include <fmt/format.h>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/parts.h"
#include "gradus/text/detail/pieces.h"
#include "gradus/text/detail/unicode.h"

namespace gradus::text {
namespace {

constexpr std::string_view kSpace = "\u2581";  // "▁"
constexpr std::int64_t kMostExtraIds = 10'000;

std::optional<std::int64_t> id_or_none(int id) {
  return id < 0 ? std::nullopt : std::optional<std::int64_t>(id);
}

}  // namespace

struct SentencePiece::Model {
  Model(const std::filesystem::path& path, const SentencePieceOptions& options)
      : bytes(detail::read_file("SentencePiece", path)),
        extra_ids(options.extra_ids),
        tokens(std::make_shared<detail::Tokens>("SentencePiece: " + detail::named(path))) {
    check(extra_ids >= 0 && extra_ids <= kMostExtraIds, "SentencePiece: expects extra_ids in 0..{}, got {}",
          kMostExtraIds, extra_ids);
    detail::load_pieces(processor, bytes, tokens->who());
    for (int id = 0; id < processor.GetPieceSize(); ++id) {
      tokens->add(processor.IdToPiece(id), id);
      if (processor.IsControl(id) || processor.IsUnknown(id)) tokens->mark(processor.IdToPiece(id));
    }
    for (std::int64_t i = extra_ids - 1; i >= 0; --i)
      tokens->mark(fmt::format("<extra_id_{}>", i), {.strip_before = true, .strip_after = true});
    tokens->special().bos = id_or_none(processor.bos_id());
    tokens->special().eos = id_or_none(processor.eos_id());
    tokens->special().pad = id_or_none(processor.pad_id());
    tokens->special().unk = id_or_none(processor.unk_id());
  }

  bool is_own(std::int64_t id) const { return id < processor.GetPieceSize(); }

  std::string bytes;
  std::int64_t extra_ids;
  sentencepiece::SentencePieceProcessor processor;
  std::shared_ptr<detail::Tokens> tokens;
};

SentencePiece::SentencePiece(std::shared_ptr<const Model> model)
    : Tokenizer(model->tokens), model_(std::move(model)) {}
SentencePiece::SentencePiece(const std::filesystem::path& model, const SentencePieceOptions& options)
    : SentencePiece(std::make_shared<const Model>(model, options)) {}

SentencePiece SentencePiece::load(const std::filesystem::path& folder) {
  check(detail::is_folder(folder), "SentencePiece: {} is not a folder; nothing is downloaded",
        detail::named(folder));
  SentencePieceOptions options;
  const bool t5 = detail::exists("SentencePiece", folder / "spiece.model");
  if (t5) options.extra_ids = 100;
  check(t5 || detail::exists("SentencePiece", folder / "tokenizer.model"),
        "SentencePiece: {} has neither spiece.model nor tokenizer.model", detail::named(folder));
  if (const auto path = folder / "tokenizer_config.json"; detail::exists("SentencePiece", path)) {
    const detail::Json config = detail::read_json("SentencePiece", path);
    options.extra_ids =
        detail::Keys(config, "SentencePiece: " + detail::named(path)).get("extra_ids", options.extra_ids);
  }
  const auto model = std::make_shared<Model>(folder / (t5 ? "spiece.model" : "tokenizer.model"), options);
  detail::read_special_files(*model->tokens, folder);
  return SentencePiece(std::shared_ptr<const Model>(model));
}

void SentencePiece::encode_plain(std::string_view text, Ids& out) const {
  std::vector<int> ids;
  const auto status = model_->processor.Encode(std::string(text), &ids);
  check(status.ok(), "SentencePiece::encode: {}", io::printable(status.ToString()));
  out.insert(out.end(), ids.begin(), ids.end());
}

std::string SentencePiece::join(std::span<const std::int64_t> ids) const {
  std::string text, part;
  std::vector<int> run;
  const auto end_run = [&] {
    if (run.empty()) return;
    const auto status = model_->processor.Decode(run, &part);
    check(status.ok(), "SentencePiece::decode: {}", io::printable(status.ToString()));
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
    run.clear();
  };
  for (const std::int64_t id : ids) {
    if (model_->is_own(id) && !is_special(id)) {
      run.push_back(static_cast<int>(id));
      continue;
    }
    end_run();
    if (!text.empty()) text += ' ';
    text += token(id);
  }
  end_run();
  return text;
}

std::string SentencePiece::bytes(std::int64_t id) const {
  const std::string& token = tokens_->token(id, "SentencePiece::bytes");
  if (!model_->is_own(id) || is_special(id)) return token;
  if (model_->processor.IsByte(static_cast<int>(id)))  // <0xE2>
    return std::string(1, static_cast<char>(std::stoi(token.substr(3, 2), nullptr, 16)));
  std::string text;
  for (std::size_t at = 0; at < token.size();) {
    const bool space = std::string_view(token).substr(at).starts_with(kSpace);
    text += space ? ' ' : token[at];
    at += space ? kSpace.size() : 1;
  }
  return text;
}

void SentencePiece::save(const std::filesystem::path& folder) const {
  const char* who = "SentencePiece::save";
  const bool t5 = model_->extra_ids > 0;
  nlohmann::ordered_json config{{"tokenizer_class", t5 ? "T5Tokenizer" : "LlamaTokenizer"},
                                {"extra_ids", model_->extra_ids}};
  nlohmann::ordered_json added = nlohmann::ordered_json::object();
  for (std::int64_t id = model_->processor.GetPieceSize() + model_->extra_ids; id < vocab_size(); ++id)
    if (tokens_->has(id)) added[token(id)] = id;
  io::make_folder(who, folder.string());
  if (!added.empty()) detail::write_file(who, folder / "added_tokens.json", added.dump(2) + "\n");
  detail::write_file(who, folder / "special_tokens_map.json", detail::special_tokens_map(*tokens_));
  detail::write_file(who, folder / (t5 ? "spiece.model" : "tokenizer.model"), model_->bytes);
  detail::write_file(who, folder / "tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace gradus::text
