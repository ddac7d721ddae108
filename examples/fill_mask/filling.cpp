#include "fill_mask/filling.h"

#include <fmt/format.h>

#include <algorithm>

#include "fill_mask/corpus.h"
#include "gradus/gradus.h"

namespace gradus::fill_mask {

text::Ids fillable(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence) {
  const std::int64_t mask = mask_id(tokenizer);
  text::Ids ids = tokenizer.encode(sentence);
  if (std::find(ids.begin(), ids.end(), mask) == ids.end())
    fail_input_with("expects a sentence with {}, got \"{}\"", tokenizer.token(mask), sentence);
  const std::int64_t context = model.options().context - 2;
  if (std::ssize(ids) > context)
    fail_input_with("expects a sentence of at most {} tokens, got {}", context, ids.size());
  return ids;
}

Filled fill(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& sentence,
            std::int64_t top) {
  const std::int64_t mask = mask_id(tokenizer);
  text::Ids ids = fillable(model, tokenizer, sentence);
  const NoGrad no_grad;
  const nn::EvalMode eval(model);
  const Tensor row = framed(ids, tokenizer).unsqueeze(0);
  // A model may have more rows than its vocabulary has tokens.
  const Tensor likely =
      softmax(model.mlm_logits(model(row)[row == mask]), -1).slice(1, 0, tokenizer.vocab_size());
  for (std::int64_t id = 0; id < tokenizer.vocab_size(); ++id)  // not a valid guess
    if (tokenizer.is_special(id)) likely.select(1, id).fill_(0);
  const auto [values, tokens] = topk(likely, std::min(top, likely.size(1)));
  Filled filled;
  auto place = ids.begin();
  for (std::int64_t i = 0; i < likely.size(0); ++i) {
    std::vector<Guess>& guesses = filled.masks.emplace_back();
    for (std::int64_t j = 0; j < values.size(1); ++j)
      guesses.push_back({tokenizer.token(tokens[i][j].item<std::int64_t>()), values[i][j].item()});
    place = std::find(place, ids.end(), mask);
    *place = tokens[i][0].item<std::int64_t>();
  }
  filled.sentence = tokenizer.decode(ids);
  return filled;
}

std::string to_text(const Filled& filled) {
  std::string text;
  for (std::size_t i = 0; i < filled.masks.size(); ++i) {
    if (filled.masks.size() > 1) text += fmt::format("mask {}\n", i + 1);
    for (const Guess& guess : filled.masks[i])
      text += fmt::format("  {:5.1f}%  {}\n", 100 * guess.probability, guess.token);
  }
  return text + filled.sentence + "\n";
}

}  // namespace gradus::fill_mask
