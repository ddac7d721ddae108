#include "translate/translator.h"

#include <algorithm>
#include <numeric>

#include "gradus/gradus.h"
#include "gradus/text/pad_batch.h"
#include "gradus/text/train.h"
#include "translate/corpus.h"

namespace gradus::translate {

namespace {

constexpr std::size_t kTogether = 64;  // texts translated at once

/// How much longer than its text a translation may be.
std::int64_t room_for(const Translator& translator, std::int64_t source) {
  return std::min(translator.model.options().context, 2 * source + 10);
}

/// The tokens before the first end token or padding.
text::Ids until_end(const Translator& translator, std::span<const std::int64_t> ids) {
  const auto& options = translator.model.options();
  const auto last = std::find_if(ids.begin(), ids.end(),
                                 [&](std::int64_t id) { return id == options.end || id == options.pad; });
  return {ids.begin(), last};
}

std::vector<text::Ids> search_batch(const Translator& translator, std::span<const text::Ids> texts,
                                    const Search& search) {
  const nn::Seq2SeqTransformer& model = translator.model;
  const Tensor source = text::pad_batch(texts, model.options().pad).ids;
  const std::int64_t count = room_for(translator, source.size(1));
  std::vector<text::Ids> found;
  if (search.beams == 1) {
    for (const Tensor& row : unbind(model.generate(source, count, {.greedy = true}), 0))
      found.push_back(until_end(translator, row.to_vector<std::int64_t>()));
    return found;
  }
  for (const auto& hypotheses : model.beam_search(
           source, {.beams = search.beams, .count = count, .length_penalty = search.length_penalty}))
    found.push_back(until_end(translator, hypotheses.at(0).tokens));
  return found;
}

std::string text_of(const Translator& translator, const text::Ids& ids) {
  const std::string text = translator.tokenizer->decode(ids, {.skip_special = true});
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace

std::shared_ptr<const text::Tokenizer> learn_vocabulary(std::span<const std::string> source,
                                                        std::span<const std::string> target,
                                                        std::int64_t tokens) {
  std::vector<std::string> texts(source.begin(), source.end());
  texts.insert(texts.end(), target.begin(), target.end());
  return std::make_shared<text::ByteLevelBPE>(
      text::train_byte_level_bpe(texts, {.vocab = tokens, .special_tokens = {"<pad>", "<s>", "</s>"}}));
}

text::Ids tokens_of(const text::Tokenizer& tokenizer, const std::string& text) {
  text::Ids ids = tokenizer.encode_ordinary(text);
  ids.push_back(tokenizer.special().eos.value());
  return ids;
}

void expect_readable(const Translator& translator, const std::string& text, const std::string& who) {
  expect_utf8(text, who);
  const std::int64_t context = translator.model.options().context;
  const std::size_t count = tokens_of(*translator.tokenizer, text).size();
  if (static_cast<std::int64_t>(count) > context)
    fail_input_with("{} has {} tokens, the model reads at most {}: split it into sentences", who, count,
                    context);
}

text::Ids search_one(const Translator& translator, const std::string& text, const Search& search) {
  const text::Ids ids = tokens_of(*translator.tokenizer, text);
  return search_batch(translator, std::span(&ids, 1), search)[0];
}

std::vector<std::string> translate(const Translator& translator, std::span<const std::string> texts,
                                   const Search& search, const std::function<void(std::size_t)>& done) {
  std::vector<text::Ids> ids;
  for (const std::string& text : texts) ids.push_back(tokens_of(*translator.tokenizer, text));
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ids[a].size() < ids[b].size(); });
  std::vector<std::string> translations(texts.size());
  for (std::size_t begin = 0; begin < order.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, order.size());
    std::vector<text::Ids> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(ids[order[i]]);
    const std::vector<text::Ids> found = search_batch(translator, batch, search);
    for (std::size_t i = begin; i < end; ++i) translations[order[i]] = text_of(translator, found[i - begin]);
    if (done) done(end);
  }
  return translations;
}

std::string translate_line(const Translator& translator, const std::string& text, const Search& search,
                           const std::string& who) {
  if (text.find_first_not_of(" \t\r") == std::string::npos) return "";
  expect_readable(translator, text, who);
  return translate(translator, std::span(&text, 1), search)[0];
}

}  // namespace gradus::translate
