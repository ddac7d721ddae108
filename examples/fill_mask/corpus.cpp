#include "fill_mask/corpus.h"

#include <algorithm>
#include <optional>

#include "gradus/gradus.h"
#include "gradus/text/train.h"

namespace gradus::fill_mask {

namespace {

constexpr double kTrainShare = 0.9;

std::int64_t special(std::optional<std::int64_t> id, const char* name) {
  if (!id) fail_input_with("the vocabulary has no {}: it does not belong to a masked language model", name);
  return *id;
}

/// Throws if --vocab is too small for the text's characters.
text::WordPiece vocabulary_of(const std::string& text, const Options& o) {
  try {
    return text::train_word_piece({text}, {.vocab = o.vocab});
  } catch (const Error& error) {
    fail_input_with("--vocab, with --text {}: {}", o.text.string(), error.what());
  }
}

}  // namespace

std::int64_t cls_id(const text::Tokenizer& tokenizer) { return special(tokenizer.special().cls, "[CLS]"); }
std::int64_t sep_id(const text::Tokenizer& tokenizer) { return special(tokenizer.special().sep, "[SEP]"); }
std::int64_t mask_id(const text::Tokenizer& tokenizer) { return special(tokenizer.special().mask, "[MASK]"); }

Corpus make_corpus(const std::string& text, const Options& o) {
  text::WordPiece tokenizer = vocabulary_of(text, o);
  const text::Ids ids = tokenizer.encode_ordinary(text);
  const auto cut = static_cast<std::ptrdiff_t>(kTrainShare * static_cast<double>(ids.size()));
  Corpus corpus{std::move(tokenizer), {ids.begin(), ids.begin() + cut}, {ids.begin() + cut, ids.end()}};
  if (std::ssize(corpus.validation) < o.context - 2)
    fail_input_with(
        "{}: has {} tokens, and its validation part, a tenth, {}: too few for a window of {}: expects a "
        "longer text or a "
        "smaller --context",
        o.text.string(), ids.size(), corpus.validation.size(), o.context - 2);
  return corpus;
}

Tensor framed(std::span<const std::int64_t> tokens, const text::Tokenizer& tokenizer) {
  std::vector<std::int64_t> ids{cls_id(tokenizer)};
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  ids.push_back(sep_id(tokenizer));
  return from_vector(ids, {std::ssize(ids)});
}

Windows::Windows(const Corpus& corpus, const std::vector<std::int64_t>& tokens, const Options& o)
    : corpus_(corpus), tokens_(tokens), length_(o.context - 2) {
  masking_ = {.vocab = corpus.tokenizer.vocab_size(), .mask = mask_id(corpus.tokenizer), .share = o.masked};
  for (std::int64_t id = 0; id < masking_.vocab; ++id)
    if (corpus.tokenizer.is_special(id)) masking_.special.push_back(id);
}

std::int64_t Windows::size() const { return std::ssize(tokens_) / length_; }

std::array<Tensor, 2> Windows::masked(std::int64_t i, Generator& generator, bool shifted) const {
  const std::int64_t last = std::ssize(tokens_) - length_;
  const std::int64_t begin = std::min(last, i * length_ + (shifted ? generator.below(length_) : 0));
  const auto window =
      std::span(tokens_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length_));
  const auto [ids, targets] = data::mask_tokens(framed(window, corpus_.tokenizer), masking_, generator);
  return {ids, targets};
}

}  // namespace gradus::fill_mask
