#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "fill_mask/corpus.h"
#include "fill_mask/filling.h"
#include "fill_mask/options.h"
#include "fill_mask/training.h"
#include "gradus/gradus.h"
#include "support.h"

using namespace gradus;
using test::check_error;

namespace {

/// Sentences in which one word follows from the next.
std::string animals() {
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += i % 3 == 0 ? "the dog barks . " : i % 3 == 1 ? "a cat meows . " : "one cow moos . ";
  return text;
}

fill_mask::Options small_bert() {
  fill_mask::Options o;
  o.text = "animals";
  o.vocab = 100, o.context = 10, o.layers = 1, o.heads = 2, o.d_model = 16, o.dropout = 0;
  return o;
}

}  // namespace

TEST_CASE("fill_mask: a corpus is cut in two, and its windows hide tokens") {
  const fill_mask::Options o = small_bert();
  const fill_mask::Corpus corpus = fill_mask::make_corpus(animals(), o);
  CHECK(corpus.train.size() + corpus.validation.size() == 1600);
  CHECK(corpus.validation.size() == 160);
  const fill_mask::Windows windows(corpus, corpus.train, o);
  CHECK(windows.size() == 1440 / 8);
  Generator generator(1);
  const std::int64_t cls = corpus.tokenizer.id("[CLS]"), sep = corpus.tokenizer.id("[SEP]");

  for (std::int64_t i = 0; i < windows.size(); ++i) {
    const auto [ids, targets] = windows.masked(i, generator, false);
    REQUIRE(ids.shape() == Shape{10});
    CHECK(ids[0].item<std::int64_t>() == cls);
    CHECK(ids[9].item<std::int64_t>() == sep);
    const Tensor text = where(targets != -100, targets, ids);
    for (std::size_t j = 0; j < 8; ++j)
      CHECK(text.span<std::int64_t>()[j + 1] == corpus.train[static_cast<std::size_t>(8 * i) + j]);
    CHECK(windows.masked(i, generator, true)[0].shape() == Shape{10});
  }
  check_error(
      [&] { fill_mask::make_corpus("the dog barks .", o); },
      "animals: has 12 tokens, and its validation part, a tenth, 2: too few for a window of 8: expects a "
      "longer text or "
      "a smaller --context");
}

TEST_CASE("fill_mask: a mask is filled with the likeliest words, special tokens left out") {
  const fill_mask::Corpus corpus = fill_mask::make_corpus(animals(), small_bert());
  const nn::Bert model(small_bert().model(corpus.tokenizer.vocab_size() + 3));  // the last rows are no tokens
  {  // Logits that say: [MASK] itself before dog before cow, wherever it stands.
    const NoGrad guard;
    nn::init::zeros_(model.mlm_norm->parameters()[0]);
    nn::init::zeros_(model.mlm_norm->parameters()[1]);
    for (const auto& [token, logit] : {std::pair{"[MASK]", 9.0}, {"dog", 8.0}, {"cow", 7.0}})
      model.mlm_bias.select(0, corpus.tokenizer.id(token)).fill_(logit);
    model.mlm_bias.slice(0, corpus.tokenizer.vocab_size()).fill_(8.5);
  }
  const fill_mask::Filled filled = fill_mask::fill(model, corpus.tokenizer, "The [MASK] barks. A [MASK]", 2);
  REQUIRE(filled.masks.size() == 2);
  for (const auto& guesses : filled.masks) {
    REQUIRE(guesses.size() == 2);
    CHECK(guesses[0].token == "dog");
    CHECK(guesses[1].token == "cow");
    CHECK(guesses[0].probability / guesses[1].probability == doctest::Approx(std::exp(1)).epsilon(1e-4));
  }
  CHECK(filled.sentence == "the dog barks. a dog");
  CHECK(fill_mask::to_text({{{{"dog", 0.5}, {"cow", 0.25}}}, "a dog"}) ==
        "   50.0%  dog\n   25.0%  cow\na dog\n");
  CHECK(fill_mask::to_text({{{{"dog", 1}}, {{"cow", 1}}}, "x"}) ==
        "mask 1\n  100.0%  dog\nmask 2\n  100.0%  cow\nx\n");
  check_error([&] { fill_mask::fill(model, corpus.tokenizer, "the dog", 2); },
              "expects a sentence with [MASK], got \"the dog\"");
  check_error([&] { fill_mask::fill(model, corpus.tokenizer, "a a a a a a a a [MASK]", 2); },
              "expects a sentence of at most 8 tokens, got 9");
}

TEST_CASE("fill_mask: learns which word goes with which") {
  const test::ScratchFolder folder;
  fill_mask::Options o = small_bert();
  o.save = folder.path();
  o.layers = 2, o.d_model = 32, o.heads = 4;
  o.steps = 500, o.warmup = 50, o.batch = 16, o.lr = 5e-3;
  manual_seed(0);
  const fill_mask::Corpus corpus = fill_mask::make_corpus(animals(), o);
  const nn::Bert model(o.model(corpus.tokenizer.vocab_size()));
  const fill_mask::Score before = fill_mask::validate(model, corpus, o);
  kit::TrainingRun run(fill_mask::training_options(animals(), o));
  CHECK(fill_mask::train(run, model, corpus, o));
  const fill_mask::Score after = fill_mask::validate(model, corpus, o),
                         again = fill_mask::validate(model, corpus, o);
  CHECK(before.right < 0.5);
  CHECK(after.right > 0.75);
  CHECK(after.loss < 1);
  CHECK(after.loss == again.loss);
  CHECK(fill_mask::fill(model, corpus.tokenizer, "the [MASK] barks .", 1).sentence == "the dog barks.");
  CHECK(fill_mask::fill(model, corpus.tokenizer, "a [MASK] meows .", 1).sentence == "a cat meows.");
}
