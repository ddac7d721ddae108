// The code of docs/generation.md.

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "gradus/core/memory/storage.h"
#include "gradus/gradus.h"
#include "gradus/text/text.h"
#include "text/golden.h"

using namespace gradus;

TEST_CASE("docs/generation.md: sampling, streaming, a user's loop, beam search") {
  const std::vector<std::string> texts{test::sample_text()};
  const auto tokenizer = text::train_byte_level_bpe(texts, {.vocab = 300, .special_tokens = {"</s>"}});
  manual_seed(3);
  const nn::GPT gpt({.vocab = 300, .context = 32, .layers = 2, .block = {.d_model = 16, .heads = 2}});
  const std::int64_t end = tokenizer.id("</s>");
  const Tensor prompt = from_vector(tokenizer.encode("Erl"));
  std::ostringstream screen;
  // [stream]
  text::Utf8Stream out;
  const auto print = [&](const Tensor& tokens) {  // [B], here [1]
    screen << out.push(tokenizer.bytes(tokens.item<std::int64_t>())) << std::flush;
    return true;  // false ends the text
  };
  const Tensor written = gpt.generate(prompt, 20, {.top_p = 0.9, .stop = {end}, .on_token = print});
  screen << out.flush();
  // [/stream]
  const std::string whole = tokenizer.decode(written.slice(0, prompt.size(0)));
  CHECK(screen.str().size() >= whole.size());  // broken characters are shown as U+FFFD
  {
    // [loop]
    const NoGrad no_grad;
    const nn::EvalMode eval_mode(gpt);
    nn::KeyValueCache cache = gpt.new_cache();
    Tensor ids = prompt.unsqueeze(0), next = ids;  // [1, T]
    for (int i = 0; i < 20; ++i) {
      Tensor logits = gpt.next_logits(next, cache);  // [1, V], for the work of what is new alone
      logits.select(1, end) = -INFINITY;             // whatever is to be so: here it may not end
      next = nn::choose_tokens(logits, ids, {.greedy = true}).unsqueeze(1);
      ids = cat({ids, next}, 1);
    }
    // [/loop]
    CHECK(ids.size(1) == prompt.size(0) + 20);
    CHECK(!(ids == end).any());
    const Tensor greedy = gpt.generate(prompt, 20, {.greedy = true, .stop = {end}});
    if (greedy.size(0) == ids.size(1)) CHECK(equal(ids[0], greedy));
  }
  // [beams]
  const auto found = gpt.beam_search(prompt, {.beams = 4, .count = 20, .stop = {end}, .length_penalty = 0.6});
  const std::string best = tokenizer.decode(found[0].tokens);  // without the prompt; its found[0].score
  // [/beams]
  CHECK(found.size() == 4);
  CHECK(found[0].score >= found[1].score);
  CHECK(!best.empty());
}

TEST_CASE("docs/generation.md: the memory of a cache, and the effect of sliding") {
  const nn::GPT gpt({.vocab = 20, .context = 32, .layers = 3, .block = {.d_model = 16, .heads = 4}});
  const nn::GPT shared(
      {.vocab = 20, .context = 32, .layers = 3, .block = {.d_model = 16, .heads = 4, .kv_heads = 1}});
  const auto bytes = [](const nn::GPT& model) {
    const std::int64_t before = memory_stats().live_bytes;
    const nn::KeyValueCache cache = model.new_cache(2);
    return memory_stats().live_bytes - before;
  };
  CHECK(bytes(gpt) == 4 * 2 * 3 * 2 * 32 * 16);    // 4 bytes of 2 L B T C numbers
  CHECK(bytes(shared) == 4 * 2 * 3 * 2 * 32 * 4);  // one head of D = 4 in C's place

  const Tensor prompt = tensor({1, 2, 3});
  Generator one(1), two(1);
  // [slide]
  const Tensor text =
      gpt.generate(prompt, 100, {.generator = &one, .slide = 16});  // half of its context of 32
  // [/slide]
  CHECK(equal(text, gpt.generate(prompt, 100, {.generator = &two, .slide = 16, .cache = false})));
}

TEST_CASE("docs/generation.md: rows that end") {
  manual_seed(5);
  const nn::Seq2SeqTransformer model({.vocab = 8,
                                      .context = 16,
                                      .encoder_layers = 1,
                                      .decoder_layers = 1,
                                      .block = {.d_model = 8, .heads = 2}});
  const Tensor source = tensor({{3, 4, 5}, {6, 7, 0}});
  const Tensor ids = model.generate(source, 15);
  for (std::int64_t row = 0; row < 2; ++row) {
    bool ended = false;
    for (std::int64_t i = 0; i < ids.size(1); ++i) {
      const auto token = ids[row][i].item<std::int64_t>();
      CHECK((token == 0) == ended);  // padding behind the end, and only there
      ended = ended || token == 2;
    }
  }
  const nn::GPT gpt({.vocab = 4, .context = 16, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  const Tensor rows = gpt.generate(tensor({{1, 2}, {3, 1}, {2, 2}}), 14, {.stop = {0}});
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t i = 3; i < rows.size(1); ++i)
      if (rows[row][i - 1].item<std::int64_t>() == 0) CHECK(rows[row][i].item<std::int64_t>() == 0);
}
