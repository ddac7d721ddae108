// Rows of docs/from_pytorch.md: the arguments of Hugging Face's generate(), by name.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: generate") {
  using namespace gradus;
  manual_seed(0);
  const nn::GPT gpt({.vocab = 10, .context = 32, .layers = 2, .block = {.d_model = 8, .heads = 2}});
  const Tensor ids = tensor({{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}}), prompt = ids[0];
  int seen = 0;
  const auto print = [&](const Tensor& tokens) { return seen += static_cast<int>(tokens.numel()), true; };
  const auto stop_it = [&](const Tensor&) { return false; };
  // [generate]
  // py: model.generate(ids, max_new_tokens=6)
  // note: there greedy is the default, here sampling is
  const Tensor greedy = gpt.generate(ids, 6, {.greedy = true});
  CHECK(greedy.shape() == Shape{2, 11});
  // py: model.generate(ids, max_length=16)
  const Tensor as_long = gpt.generate(ids, 16 - ids.size(1), {.greedy = true});
  CHECK(as_long.size(1) == 16);
  // py: model.generate(ids, do_sample=True, max_new_tokens=6)
  // note: 50 is their default; ours is `top_k=0`
  gives(gpt.generate(ids, 6, {.top_k = 50}).shape(), "[2, 11]");
  // py: do_sample=True, temperature=0.8, top_k=5, top_p=0.9
  gives(gpt.generate(ids, 6, {.temperature = 0.8, .top_k = 5, .top_p = 0.9}).shape(), "[2, 11]");
  // py: do_sample=True, repetition_penalty=1.2
  // note: also counts the prompt's tokens, as there
  gives(gpt.generate(ids, 6, {.repetition_penalty = 1.2}).shape(), "[2, 11]");
  // py: eos_token_id=[0, 3]
  // note: no default: config.json's is not kept. A row that has ended repeats its last token, not padding
  const Tensor ended = gpt.generate(ids, 20, {.greedy = true, .stop = {0, 3}});
  CHECK(ended.size(1) <= 25);
  // py: transformers.set_seed(7); model.generate(ids, do_sample=True)
  // note: or `manual_seed(7)`
  Generator generator(7);
  const Tensor drawn = gpt.generate(ids, 6, {.generator = &generator});
  CHECK(drawn.size(1) == 11);
  manual_seed(7);
  CHECK(equal(drawn, gpt.generate(ids, 6)));
  // py: model.generate(prompt, do_sample=True, num_return_sequences=3)
  const Tensor three = gpt.generate(prompt.unsqueeze(0).expand({3, 5}), 6);
  CHECK(three.shape() == Shape{3, 11});
  // py: streamer=TextStreamer(tokenizer)
  // note: `print` gets the new tokens [B]; [streaming](generation.md#streaming)
  const Tensor streamed = gpt.generate(prompt, 6, {.on_token = print});
  CHECK(seen == 6);
  // py: stopping_criteria=[...]
  // note: the text ends where it returns false
  const Tensor stopped = gpt.generate(prompt, 6, {.on_token = stop_it});
  CHECK(stopped.size(0) == 6);
  // py: use_cache=False
  const Tensor without = gpt.generate(ids, 6, {.greedy = true, .cache = false});
  CHECK(equal(without, greedy));
  // py: model.generate(prompt, num_beams=4, max_new_tokens=6)
  // note: only the continuation, without the prompt; for `num_return_sequences` take as many of the list
  const std::vector<nn::Hypothesis> found = gpt.beam_search(prompt, {.beams = 4, .count = 6});
  CHECK(found.size() == 4);
  // py: num_beams=4, early_stopping=True, length_penalty=1.0, eos_token_id=0
  // note: a score is divided by ((5 + n) / 6)^a, theirs by n^a: the same order needs a different a
  const auto beams =
      gpt.beam_search(prompt, {.beams = 4, .count = 6, .stop = {0}, .length_penalty = 1, .early_stop = true});
  CHECK(!beams.empty());
  // py: generate(..., return_dict_in_generate=True, output_scores=True).sequences_scores
  const double score = found[0].score;
  CHECK(score >= found[1].score);
  // py: bad_words_ids=[[7]], logits_processor=[...]
  // note: in [your own loop](generation.md#your-own-loop)
  nn::KeyValueCache cache = gpt.new_cache(2);
  const Tensor logits = masked_fill(gpt.next_logits(ids, cache), arange(10) == 7, -INFINITY);
  const Tensor next = nn::choose_tokens(logits, ids, {.top_p = 0.9});
  CHECK(!(next == 7).any());
  // py: tokenizer(prompts, padding=True, padding_side="left"), attention_mask=mask
  // here: not here: all prompts of a batch have the same length
  // py: min_new_tokens, no_repeat_ngram_size, num_beam_groups, assistant_model, ...
  // here: not here: the same loop
  // [/generate]
}

}  // namespace
