// hidden(): the states that a model's head multiplies, for every model, kind of positions and head.

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

const Tensor kTokens = tensor({{1, 2, 3, 6, 0, 4}, {5, 5, 0, 2, 1, 3}});
const Tensor kNextTokens = tensor({{2, 3, 6, 0, 4, 1}, {5, 0, 2, 1, 3, -100}});
const Tensor kTexts = tensor({{3, 4, 5, 2, 0}, {6, 2, 0, 0, 0}, {1, 3, 6, 4, 2}});
const Tensor kTranslations = tensor({{5, 2, 0, 0}, {4, 4, 3, 2}, {6, 3, 2, 0}});

/// All kinds of positions, with and without a final norm, and Llama's parts.
std::vector<nn::GPTOptions> gpt_kinds() {
  const nn::GPTOptions small{
      .vocab = 7, .context = 8, .layers = 2, .block = {.d_model = 4, .heads = 2, .d_ff = 6, .dropout = 0.3}};
  std::vector<nn::GPTOptions> all(7, small);
  all[1].positions = nn::Positions::rotary;
  all[1].tied = false;
  all[2].positions = nn::Positions::alibi;
  all[2].placement = nn::post_ln();
  all[3].positions = nn::Positions::sinusoidal;
  all[3].placement = nn::resi_dual();
  all[4].positions = nn::Positions::relative;
  all[4].final_norm = false;
  all[5].positions = nn::Positions::none;
  all[5].checkpoint = true;
  all[6] =
      nn::llama({.vocab = 7, .context = 8, .layers = 2, .d_model = 8, .heads = 4, .kv_heads = 2, .d_ff = 6});
  all[6].block.dropout = 0.3;
  return all;
}

std::vector<nn::Seq2SeqTransformer> translators() {
  nn::Seq2SeqOptions waves{.vocab = 7,
                           .context = 8,
                           .encoder_layers = 1,
                           .decoder_layers = 2,
                           .block = {.d_model = 4, .heads = 2, .d_ff = 6, .dropout = 0.3}};
  nn::Seq2SeqOptions learned = waves, rotary = waves, alibi = waves;
  learned.positions = nn::Positions::learned;
  learned.tied = false;
  learned.head_bias = true;
  rotary.positions = nn::Positions::rotary;
  rotary.placement = nn::pre_ln();
  alibi.positions = nn::Positions::alibi;
  alibi.source_vocab = 9;
  nn::T5Options t5{.vocab = 7, .d_model = 4, .d_kv = 2, .d_ff = 6, .heads = 2};
  t5.encoder_layers = t5.decoder_layers = 1;
  t5.dropout = 0.3;
  nn::T5Options newer = t5;
  newer.gated = true;
  newer.tied = false;
  std::vector<nn::Seq2SeqTransformer> all;
  for (const nn::Seq2SeqOptions& options : {waves, learned, rotary, alibi}) all.emplace_back(options);
  all.push_back(nn::T5(t5));
  all.push_back(nn::T5(newer));
  return all;
}

/// f() with the default generator set to this seed.
template <class F>
Tensor seeded(const F& f) {
  manual_seed(11);
  return f();
}

/// A new head on states [B, T, C] gives every parameter of the body a gradient.
void check_head_trains(const nn::Module& body, const Tensor& states, const std::string& without = "head.") {
  const nn::Linear head(states.size(2), 3);
  CHECK(head.parameters().size() == 2);  // as an optimizer asks, which would miss them else
  body.zero_grad();
  cross_entropy(head(states.select(1, -1)), zeros({states.size(0)}, i64)).backward();
  CHECK(head.weight.grad().any());
  for (const StateDict::Entry& entry : body.named_parameters()) {
    INFO(entry.first);
    CHECK(entry.second.grad().defined() != entry.first.starts_with(without));
  }
}

}  // namespace

TEST_CASE("hidden: a GPT's head on it gives the model's logits and loss, bit for bit") {
  for (const nn::GPTOptions& options : gpt_kinds())
    for (const bool training : {true, false}) {
      const nn::GPT gpt(options);
      randomize(gpt);
      gpt.train(training);
      const Tensor logits = seeded([&] { return gpt(kTokens); });
      const Tensor hidden = seeded([&] { return gpt.hidden(kTokens); });
      CHECK(hidden.shape() == Shape{2, 6, options.block.d_model});
      CHECK(max_difference(gpt.logits(hidden), logits) == 0);
      const Tensor weight = gpt.head ? gpt.head->weight : gpt.token_embedding.weight;
      CHECK(max_difference(linear(hidden, weight), logits) == 0);
      const Tensor loss = seeded([&] { return gpt.loss(kTokens, kNextTokens); });
      CHECK(linear_cross_entropy(hidden, weight, kNextTokens).item() == loss.item());
      CHECK((max_difference(gpt.hidden(kTokens), hidden) == 0) != training);  // dropout
      check_head_trains(gpt, hidden);
    }
}

TEST_CASE("hidden: a GPT's gradients, in f64") {
  const DefaultDType floats(f64);
  for (nn::GPTOptions options : gpt_kinds()) {
    options.tied = true;
    options.block.dropout = 0;
    const nn::GPT gpt(options);
    randomize(gpt);
    check_module(
        gpt, {}, [&](const Tensors&) { return gpt.hidden(kTokens); }, 1e-5);
  }
}

TEST_CASE("hidden: states after the final norm") {
  const nn::GPT gpt({.vocab = 7, .context = 8, .layers = 2, .block = {.d_model = 16, .heads = 2}});
  randomize(gpt);
  nn::init::ones_(gpt.parameter("norm.weight"));
  nn::init::zeros_(gpt.parameter("norm.bias"));
  const Tensor hidden = gpt.hidden(kTokens);
  CHECK(hidden.mean(-1).abs().max().item() < 1e-5);
  CHECK((hidden.square().mean(-1) - 1).abs().max().item() < 1e-3);
}

TEST_CASE("hidden: shorter rows, filled at the end, have the states they have alone") {
  const NoGrad guard;
  for (const nn::GPTOptions& options : gpt_kinds()) {
    const nn::GPT gpt(options);
    randomize(gpt);
    gpt.eval();
    const Tensor filled = kTokens.clone();
    filled.slice(1, 4) = 0;
    const Tensor alone = gpt.hidden(kTokens.slice(1, 0, 4));
    CHECK(max_difference(gpt.hidden(filled).slice(1, 0, 4), alone) < 1e-4 * (1 + alone.abs().max().item()));
  }
}

TEST_CASE("hidden: with a cache, a GPT's states of the tokens that follow") {
  for (const nn::GPTOptions& options : gpt_kinds()) {
    const nn::GPT gpt(options);
    randomize(gpt);
    gpt.eval();
    const Tensor whole = gpt.hidden(kTokens), begin = kTokens.slice(1, 0, 3), end = kTokens.slice(1, 3);
    nn::KeyValueCache cache = gpt.new_cache(2), same = gpt.new_cache(2);
    const Tensor first = gpt.hidden(begin, cache);
    CHECK_FALSE(first.requires_grad());
    CHECK(max_difference(gpt.logits(first), gpt(begin, same)) == 0);
    {
      const nn::ForwardHook hook = gpt.transformer.layers[1].on_forward(
          [](const nn::Module&, const Tensor&) { throw std::runtime_error("stop"); });
      CHECK_THROWS_WITH(gpt.hidden(end, cache), "stop");
      CHECK(cache.length() == 3);
    }
    const Tensor second = gpt.hidden(end, cache);
    CHECK(max_difference(gpt.logits(second), gpt(end, same)) == 0);
    CHECK(max_difference(cat({first, second}, 1), whole) < 1e-4 * (1 + whole.abs().max().item()));
    CHECK(cache.length() == 6);
  }
}

TEST_CASE("hidden: has the same errors as a GPT's call") {
  const nn::GPT gpt({.vocab = 7, .context = 5, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  check_error([&] { gpt.hidden(zeros({3}, i64)); },
              "GPT: expects ids [B, T], got [3]: add a batch axis with .unsqueeze(0)");
  check_error(
      [&] {
        gpt.hidden(zeros({1, 6}, i64));
      },
      "GPT: expects at most 5 tokens, its context, got ids [1, 6]");
  check_error(
      [&] {
        gpt.hidden(full({1, 2}, 7, i64));
      },
      "GPT: token 7 of ids, at [0, 0], is outside its vocab of 7: expects 0 to 6");
  nn::KeyValueCache cache = gpt.new_cache();
  gpt.hidden(zeros({1, 4}, i64), cache);
  check_error(
      [&] {
        gpt.hidden(zeros({1, 2}, i64), cache);
      },
      "GPT: expects at most 5 tokens, its context, got ids [1, 2] after 4 in the cache: clear() it and pass "
      "the last tokens again");
}

TEST_CASE("hidden: for a Bert, the output of its call and the input of its heads") {
  nn::BertOptions options{
      .vocab = 7, .context = 8, .layers = 2, .block = {.d_model = 4, .heads = 2, .d_ff = 6, .dropout = 0.3}};
  for (const nn::Placement& placement : {nn::post_ln(), nn::pre_ln()})
    for (const bool training : {true, false}) {
      options.placement = placement;
      const nn::Bert bert(options);
      randomize(bert);
      bert.train(training);
      const nn::BertInputs inputs{.token_types = (kTokens > 3).to(i64), .padding = kTokens == 0};
      const Tensor output = seeded([&] { return bert(kTokens, inputs); });
      const Tensor hidden = seeded([&] { return bert.hidden(kTokens, inputs); });
      CHECK(max_difference(hidden, output) == 0);
      const Tensor loss = seeded([&] { return bert.loss(kTokens, {.next = tensor({0, 1})}, inputs); });
      CHECK(cross_entropy(bert.nsp_logits(hidden), tensor({0, 1})).item() == loss.item());
      const Tensor other = masked_fill(kTokens, inputs.padding, 6);  // what padding is does not matter
      const Tensor seen = masked_fill(hidden, inputs.padding.unsqueeze(-1), 0.0);
      const Tensor again = seeded([&] { return bert.hidden(other, inputs); });
      CHECK(max_difference(masked_fill(again, inputs.padding.unsqueeze(-1), 0.0), seen) == 0);
    }
}

TEST_CASE("hidden: the head of an encoder and decoder on it gives the logits and loss, bit for bit") {
  for (const nn::Seq2SeqTransformer& model : translators())
    for (const bool training : {true, false}) {
      randomize(model);
      model.train(training);
      const Tensor target_in = model.shifted(kTranslations);
      const Tensor logits = seeded([&] { return model(kTexts, target_in); });
      const Tensor hidden = seeded([&] { return model.hidden(kTexts, target_in); });
      CHECK(hidden.shape() == Shape{3, 4, model.options().block.d_model});
      CHECK(max_difference(model.logits(hidden), logits) == 0);
      const Tensor weight = model.head ? model.head->weight : model.embedding.weight;
      CHECK(max_difference(linear(hidden, weight, model.head_bias), logits) == 0);
      const auto read = [&] { return model.hidden(target_in, model.encode(kTexts)); };
      CHECK(max_difference(seeded(read), hidden) == 0);
      CHECK((max_difference(model.hidden(kTexts, target_in), hidden) == 0) != training);  // dropout
      // Without padding, of which loss() leaves out the rows.
      const Tensor text = kTexts.slice(0, 2), target = kTranslations.slice(0, 1, 2);
      const auto one = [&] { return model.hidden(text, model.shifted(target)); };
      const Tensor loss = seeded([&] { return model.loss(text, target); });
      CHECK(linear_cross_entropy(seeded(one), weight, target, {}, model.head_bias).item() == loss.item());
      check_head_trains(model, hidden, "head");
    }
}

TEST_CASE("hidden: with a cache, the states of a decoder's tokens that follow") {
  for (const nn::Seq2SeqTransformer& model : translators()) {
    randomize(model);
    model.eval();
    const Tensor target_in = model.shifted(kTranslations);
    const Tensor begin = target_in.slice(1, 0, 2), end = target_in.slice(1, 2);
    const nn::EncoderOutput source = model.encode(kTexts);
    nn::KeyValueCache cache = model.new_cache(3, 4), same = model.new_cache(3, 4);
    const Tensor first = model.hidden(begin, source, cache);
    CHECK_FALSE(first.requires_grad());
    CHECK(max_difference(model.logits(first), model.decode(begin, source, same)) == 0);
    const Tensor second = model.hidden(end, source, cache);
    CHECK(max_difference(model.logits(second), model.decode(end, source, same)) == 0);
    const Tensor whole = model.hidden(target_in, source);
    CHECK(max_difference(cat({first, second}, 1), whole) < 1e-4 * (1 + whole.abs().max().item()));
  }
}

TEST_CASE("hidden: a T5's states are scaled as for its tied head") {
  nn::T5Options options{.vocab = 7, .d_model = 4, .d_kv = 2, .d_ff = 6, .heads = 2};
  options.encoder_layers = options.decoder_layers = 1;
  const nn::T5 t5(options);
  t5.eval();
  const Tensor target_in = t5.shifted(kTranslations), hidden = t5.hidden(kTexts, target_in);
  CHECK((hidden.square().mean(-1).sqrt() - 0.5).abs().max().item() < 1e-3);  // an RMSNorm's, over sqrt(4)
}

}  // namespace gradus::test
