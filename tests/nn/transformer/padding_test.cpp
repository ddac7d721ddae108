// Stacks leave padding out. A hook has them compute it, as who watches sees all rows: that is the reference.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "../check_module.h"
#include "gradus/core/error.h"
#include "gradus/nn/attention/detail/packing.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "threads_guard.h"

using namespace gradus;

namespace {

constexpr std::int64_t kLength = 6;
const std::vector<std::int64_t> kTexts{3, 0, 6, 1, 4}, kSources{2, 5, 0, 6, 1};

/// [B, T], true past the end of each text.
Tensor padding_of(const std::vector<std::int64_t>& lengths, std::int64_t most = kLength) {
  return arange(most) >= from_vector(lengths, {std::ssize(lengths)}).unsqueeze(1);
}

struct Outcome {
  Tensor y;                      // with zeros where there is padding
  bool padding_is_zero = false;  // before that
  std::vector<Tensor> gradients = {};
};

/// call(inputs) [B, T, C] and the gradients of inputs and parameters, of what is no padding.
template <class Call>
Outcome outcome_of(const nn::Module& model, const std::vector<Tensor>& inputs, const Tensor& padding,
                   const Call& call) {
  std::vector<Tensor> leaves = model.parameters();
  std::vector<Tensor> given;
  for (const Tensor& x : inputs) {
    given.push_back(x.detach().clone().requires_grad_());
    leaves.push_back(given.back());
  }
  for (const Tensor& w : leaves) w.zero_grad();
  const Tensor y = call(given);
  manual_seed(5);
  const Tensor hidden = padding.unsqueeze(-1), seen = masked_fill(y, hidden, 0.0);
  (seen * randn_like(seen.detach())).sum().backward();
  Outcome outcome{.y = seen.detach()};
  outcome.padding_is_zero = (masked_fill(y.detach(), !hidden, 0.0) == 0).all();
  for (const Tensor& w : leaves)
    outcome.gradients.push_back(w.grad().defined() ? w.grad().clone() : zeros(w.shape(), w.dtype()));
  return outcome;
}

/// The largest difference, as a share of the largest number.
double difference(const Tensor& a, const Tensor& b) {
  if (b.numel() == 0) return 0;
  return test::max_difference(a, b) / std::max(1.0, b.abs().max().item());
}

void check_same(const Outcome& a, const Outcome& b) {
  CHECK(difference(a.y, b.y) < 1e-12);
  REQUIRE(a.gradients.size() == b.gradients.size());
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(a.gradients[i], b.gradients[i]) < 1e-11);
  }
}

/// That padding is left out, and all else as if it were not; of a model in f64.
template <class Call>
void check_left_out(const nn::Module& model, const std::vector<Tensor>& inputs, const Tensor& padding,
                    const Call& call) {
  const Outcome without = outcome_of(model, inputs, padding, call);
  const nn::ForwardHook watch = model.on_forward([](const nn::Module&, const Tensor&) {});
  const Outcome with = outcome_of(model, inputs, padding, call);
  CHECK(without.padding_is_zero);
  CHECK_FALSE(with.padding_is_zero);
  check_same(without, with);
}

Tensor batch(std::int64_t rows = 5) { return randn({rows, kLength, 8}, f64); }

template <class Stack>
Stack make(const nn::TransformerOptions& options) {
  const DefaultDType guard(f64);
  Stack stack(options);
  for (const Tensor& w : stack.parameters()) nn::init::normal_(w, 0.1, 0.4);  // ReZero's zeros would hide all
  return stack;
}

void check_encoder(const nn::TransformerOptions& options, const nn::AttentionMasks& more = {}) {
  manual_seed(1);
  const auto encoder = make<nn::TransformerEncoder>(options);
  nn::AttentionMasks masks = more;
  masks.key_padding_mask = padding_of(kTexts);
  check_left_out(encoder, {batch()}, masks.key_padding_mask,
                 [&](const std::vector<Tensor>& in) { return encoder(in[0], masks); });
}

void check_decoder(const nn::TransformerOptions& options) {
  manual_seed(2);
  const auto decoder = make<nn::TransformerDecoder>(options);
  const Tensor padding = padding_of(kTexts), of_memory = padding_of(kSources);
  const nn::DecoderMasks masks{.self = {.key_padding_mask = padding},
                               .memory = {.key_padding_mask = of_memory}};
  check_left_out(decoder, {batch(), batch()}, padding,
                 [&](const std::vector<Tensor>& in) { return decoder(in[0], in[1], masks); });
}

const nn::BlockOptions kBlock{.d_model = 8, .heads = 2, .d_ff = 12};

}  // namespace

TEST_CASE("padding: every placement leaves it out, in encoders and decoders") {
  for (const nn::Placement& placement : nn::placements()) {
    CAPTURE(placement.name);
    for (const bool recompute : {false, true}) {
      const nn::TransformerOptions options{
          .layers = 4, .placement = placement, .block = kBlock, .checkpoint = recompute};
      check_encoder(options);
      if (placement.decoder_block && !placement.of_both) check_decoder(options);
    }
  }
  check_decoder(
      {.layers = 2, .placement = nn::deep_norm({.encoder_layers = 3, .decoder_layers = 2}), .block = kBlock});
}

TEST_CASE("padding: positions count from the start of each text, in every kind of attention") {
  std::vector<nn::BlockOptions> kinds(7, kBlock);
  kinds[0].causal = true;
  kinds[1].rope = RopeOptions{.offset = 3};
  kinds[2].alibi = true;
  kinds[3].window = 2;
  kinds[4].kv_heads = 1;
  kinds[5].qk_norm = kinds[5].v_norm = true;
  kinds[6].norm = nn::make_norm<nn::RMSNorm>;
  for (const nn::BlockOptions& block : kinds) {
    check_encoder({.layers = 2, .block = block});
    check_decoder({.layers = 2, .block = block});
  }
  manual_seed(3);
  check_encoder({.layers = 2, .block = kBlock}, {.visible = rand({5, 1, kLength, kLength}) < 0.6,
                                                 .score_bias = randn({2, kLength, kLength}, f64)});
}

TEST_CASE("padding: attention over memory counts positions from the start of each text") {
  const DefaultDType guard(f64);
  manual_seed(9);
  const auto queries = *nn::detail::RealRows::of(padding_of(kTexts), 5, kLength);
  const auto keys = *nn::detail::RealRows::of(padding_of(kSources, 7), 5, 7);
  const nn::AttentionMasks packed{
      .packing = std::make_shared<nn::detail::Packing>(nn::detail::Packing{queries, keys})};
  const Tensor x = batch(), memory = randn({5, 7, 8});
  for (const auto& options : {nn::MultiheadAttentionOptions{.d_model = 8, .heads = 2, .rope = RopeOptions{}},
                              {.d_model = 8, .heads = 2, .causal = true, .window = 4, .alibi = true}}) {
    const nn::MultiheadAttention attention(options);
    const Tensor y = attention(x, memory, {.key_padding_mask = padding_of(kSources, 7)});
    const Tensor z = attention(queries.pack(x), keys.pack(memory), packed);
    CHECK(difference(z, queries.pack(y)) < 1e-12);
    CHECK_THROWS_AS(attention.with_weights(queries.pack(x), keys.pack(memory), packed), Error);
  }
}

TEST_CASE("padding: of the memory alone, and of x alone") {
  manual_seed(4);
  const auto decoder = make<nn::TransformerDecoder>({.layers = 2, .block = kBlock});
  const Tensor padding = padding_of(kTexts), none = zeros({5, kLength}, boolean);
  const auto run = [&](const nn::DecoderMasks& masks) {
    return [&decoder, masks](const std::vector<Tensor>& in) { return decoder(in[0], in[1], masks); };
  };
  check_left_out(decoder, {batch(), batch()}, padding, run({.self = {.key_padding_mask = padding}}));
  const auto call = run({.memory = {.key_padding_mask = padding}});
  const std::vector<Tensor> inputs{batch(), batch()};
  const Outcome without = outcome_of(decoder, inputs, none, call);
  const nn::ForwardHook watch = decoder.on_forward([](const nn::Module&, const Tensor&) {});
  check_same(without, outcome_of(decoder, inputs, none, call));
}

TEST_CASE("padding: gradients are those of finite differences") {
  const DefaultDType guard(f64);
  manual_seed(5);
  const nn::TransformerDecoder decoder({.layers = 1, .block = {.d_model = 4, .heads = 2, .d_ff = 5}});
  const Tensor padding = padding_of({2, 0, 3}, 3), of_memory = padding_of({1, 2, 0}, 2);
  test::check_module(decoder, {randn({3, 3, 4}), randn({3, 2, 4})}, [&](const test::Tensors& in) {
    return decoder(in[0], in[1],
                   {.self = {.key_padding_mask = padding}, .memory = {.key_padding_mask = of_memory}});
  });
}

TEST_CASE("padding: models have the losses and gradients they have with it") {
  const DefaultDType guard(f64);
  manual_seed(6);
  const Tensor real = !padding_of(kTexts), read = !padding_of(kSources);
  const auto ids = [](const Tensor& there) {
    return where(there, randint(3, 20, there.shape()), zeros({}, i64));
  };
  const Tensor source = ids(read), target = ids(real);
  const auto check = [&](const nn::Module& model, const auto& loss) {
    const auto step = [&](const std::vector<Tensor>&) { return loss().reshape({1, 1, 1}); };
    const Outcome without = outcome_of(model, {}, zeros({1, 1}, boolean), step);
    const nn::ForwardHook watch = model.on_forward([](const nn::Module&, const Tensor&) {});
    check_same(without, outcome_of(model, {}, zeros({1, 1}, boolean), step));
  };
  const nn::Seq2SeqTransformer original(
      {.vocab = 20, .encoder_layers = 2, .decoder_layers = 2, .block = kBlock});
  check(original, [&] { return original.loss(source, target, {.label_smoothing = 0.1}); });
  const nn::T5 t5({.vocab = 20,
                   .d_model = 8,
                   .d_kv = 3,
                   .d_ff = 12,
                   .heads = 2,
                   .encoder_layers = 2,
                   .decoder_layers = 2,
                   .dropout = 0});
  check(t5, [&] { return t5.loss(source, target); });
  const nn::Bert bert({.vocab = 20, .context = 8, .layers = 2, .block = kBlock});
  const Tensor rows = nonzero(real.any({1})).squeeze(-1);  // a Bert takes no row of padding alone
  const Tensor tokens = where(real, source, full({}, -100, i64));
  check(bert, [&] { return bert.loss(target[rows], {.tokens = tokens[rows]}, {.padding = !real[rows]}); });
}

TEST_CASE(
    "padding: a placement or norm of one's own, and other padding than at the ends, are computed as ever") {
  manual_seed(7);
  const Tensor x = batch(), padding = padding_of(kTexts);
  const auto stays = [&](const nn::TransformerOptions& options, const Tensor& mask) {
    const auto encoder = make<nn::TransformerEncoder>(options);
    const Tensor y = encoder(x, {.key_padding_mask = mask});
    const nn::ForwardHook watch = encoder.on_forward([](const nn::Module&, const Tensor&) {});
    CHECK(test::max_difference(y, encoder(x, {.key_padding_mask = mask})) == 0);
    CHECK_FALSE((masked_fill(y, !mask.unsqueeze(-1), 0.0) == 0).all());
  };
  struct Mine : nn::PreLN {
    using nn::PreLN::PreLN;
  };
  stays({.layers = 2, .placement = nn::placement<Mine>(), .block = kBlock}, padding);
  stays({.layers = 2, .placement = nn::placement<Mine>(nn::pre_ln()), .block = kBlock}, padding);
  check_encoder({.layers = 2, .placement = nn::placement<Mine>({.by_position = true}), .block = kBlock});
  nn::BlockOptions with_batch_norm = kBlock;
  with_batch_norm.norm = nn::make_norm<nn::BatchNorm>;
  stays({.layers = 2, .block = with_batch_norm}, padding);
  stays({.layers = 2, .block = kBlock}, arange(kLength).expand({5, kLength}) < 2);
}

TEST_CASE("padding: the same bits for any number of threads") {
  manual_seed(8);
  const nn::TransformerDecoder decoder({.layers = 2, .block = {.d_model = 64, .heads = 4, .causal = true}});
  std::vector<std::int64_t> lengths, sources;
  for (std::int64_t b = 0; b < 24; ++b) lengths.push_back(b * 7 % 41), sources.push_back(b * 11 % 38);
  const Tensor padding = padding_of(lengths, 40), of_memory = padding_of(sources, 37);
  const Tensor x = randn({24, 40, 64}), memory = randn({24, 37, 64});
  std::optional<Outcome> first;
  for (const int threads : {1, 2, 3, 7}) {
    const test::ThreadsGuard guard(threads);
    const Outcome now = outcome_of(decoder, {x, memory}, padding, [&](const std::vector<Tensor>& in) {
      return decoder(in[0], in[1],
                     {.self = {.key_padding_mask = padding}, .memory = {.key_padding_mask = of_memory}});
    });
    if (!first) first = now;
    CHECK(now.y.to_vector<float>() == first->y.to_vector<float>());
    for (std::size_t i = 0; i < now.gradients.size(); ++i)
      CHECK(now.gradients[i].to_vector<float>() == first->gradients[i].to_vector<float>());
  }
}
