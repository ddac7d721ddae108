// Seq2SeqTransformer: its equation written out; texts of a batch, padding, generation, errors.

#include "gradus/nn/models/seq2seq_transformer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/profile/profile.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "nn/check_module.h"
#include "threads_guard.h"

namespace gradus::test {

namespace {

nn::Seq2SeqOptions small_seq2seq() {
  return {.vocab = 7,
          .context = 12,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .block = {.d_model = 8, .heads = 2, .d_ff = 12, .dropout = 0.1}};
}

/// In eval mode, with weights large enough for tokens to affect each other.
nn::Seq2SeqTransformer seq2seq_of(const nn::Seq2SeqOptions& options) {
  manual_seed(7);
  const nn::Seq2SeqTransformer model(options);
  randomize(model);
  model.eval();
  return model;
}

/// All kinds of positions and heads.
std::vector<nn::Seq2SeqOptions> kinds() {
  std::vector<nn::Seq2SeqOptions> all(7, small_seq2seq());
  all[1].positions = nn::Positions::learned;
  all[1].tied = false;
  all[1].head_bias = true;
  all[2].positions = nn::Positions::rotary;
  all[2].placement = nn::pre_ln();
  all[2].block.kv_heads = 1;
  all[3].positions = nn::Positions::alibi;
  all[3].source_vocab = 9;
  all[4].positions = nn::Positions::relative;
  all[4].scale_embedding = false;
  all[4].output_scale = 0.5;
  all[4].block.head_dim = 3;
  all[5].positions = nn::Positions::none;
  all[5].shared_embeddings = false;
  all[6].waves = nn::Waves::halves;
  all[6].placement = nn::resi_dual();
  return all;
}

const Tensor kSource = tensor({{3, 4, 5, 2, 0}, {6, 2, 0, 0, 0}, {1, 3, 6, 4, 2}});
const Tensor kTarget = tensor({{5, 2, 0, 0}, {4, 4, 3, 2}, {6, 3, 2, 0}});

}  // namespace

TEST_CASE("Seq2SeqTransformer: consists of the library's stacks, embeddings, waves and a tied head") {
  const nn::Seq2SeqTransformer model = seq2seq_of(small_seq2seq());
  const Tensor source = kSource.slice(0, 2), target_in = model.shifted(kTarget).slice(0, 2);  // no padding
  CHECK((target_in == tensor({{1, 6, 3, 2}})).all());
  const nn::SinusoidalPositions waves(12, 8);
  const auto embedded = [&](const Tensor& ids) {
    return gradus::embedding(ids, model.embedding.weight) * std::sqrt(8.0) + waves(ids.size(1));
  };
  const Tensor memory = model.encoder(embedded(source));
  const Tensor expected = linear(model.decoder(embedded(target_in), memory), model.embedding.weight);
  CHECK(max_difference(model(source, target_in), expected) < 1e-6);
}

TEST_CASE("Seq2SeqTransformer: gradients of all its kinds, with padding") {
  const DefaultDType floats(f64);
  for (nn::Seq2SeqOptions options : kinds()) {
    options.encoder_layers = options.decoder_layers = 1;
    options.block.d_model = 4;
    options.block.d_ff = 3;
    const nn::Seq2SeqTransformer model = seq2seq_of(options);
    check_module(
        model, {}, [&](const Tensors&) { return model.loss(kSource, kTarget, {.label_smoothing = 0.1}); },
        1e-5);
  }
}

TEST_CASE(
    "Seq2SeqTransformer: a row of a batch has the numbers it has alone, whatever stands in the padding") {
  for (const nn::Seq2SeqOptions& options : kinds()) {
    const NoGrad guard;
    const nn::Seq2SeqTransformer model = seq2seq_of(options);
    const Tensor all = model(kSource, model.shifted(kTarget));
    const std::vector<std::int64_t> source_lengths{4, 2, 5}, target_lengths{2, 4, 3};
    Tensor losses = zeros({});
    for (std::int64_t b = 0; b < 3; ++b) {
      const auto at = static_cast<std::size_t>(b);
      const Tensor source = kSource.slice(0, b, b + 1).slice(1, 0, source_lengths[at]);
      const Tensor target = kTarget.slice(0, b, b + 1).slice(1, 0, target_lengths[at]);
      const Tensor alone = model(source, model.shifted(target));
      CHECK(max_difference(all.slice(0, b, b + 1).slice(1, 0, target_lengths[at]), alone) < 1e-4);
      losses = losses + model.loss(source, target) * static_cast<double>(target_lengths[at]);
    }
    CHECK(model.loss(kSource, kTarget).item() == near(losses.item() / 9, 1e-4));
    // Columns of only padding do not change a bit.
    const Tensor wide_source = pad(kSource, {0, 3}), wide_target = pad(kTarget, {0, 2});
    CHECK(model.loss(wide_source, wide_target).item() == model.loss(kSource, kTarget).item());
  }
}

TEST_CASE("Seq2SeqTransformer: the loss is that of the logits, smoothed, without padding") {
  const nn::Seq2SeqTransformer model = seq2seq_of(small_seq2seq());
  const Tensor logits = model(kSource, model.shifted(kTarget));
  for (const double smoothing : {0.0, 0.1}) {
    const Tensor expected = cross_entropy(logits, kTarget, {.ignore_index = 0, .label_smoothing = smoothing});
    CHECK(model.loss(kSource, kTarget, {.label_smoothing = smoothing}).item() == near(expected.item(), 1e-5));
  }
  CHECK(model.loss(zeros({2, 3}, i64), zeros({2, 2}, i64)).item() == 0);  // nothing but padding
}

TEST_CASE("Seq2SeqTransformer: no target token sees a later one") {
  const NoGrad guard;
  for (const nn::Seq2SeqOptions& options : kinds()) {
    const nn::Seq2SeqTransformer model = seq2seq_of(options);
    const Tensor before = model(kSource, tensor({{1, 4, 5}, {1, 3, 3}, {1, 2, 6}}));
    const Tensor after = model(kSource, tensor({{1, 4, 6}, {1, 3, 4}, {1, 2, 1}}));
    CHECK(max_difference(before.slice(1, 0, 2), after.slice(1, 0, 2)) == 0);
    CHECK(max_difference(before.slice(1, 2), after.slice(1, 2)) > 0);
  }
}

TEST_CASE("Seq2SeqTransformer: the same bits for any number of threads, with and without recomputation") {
  nn::Seq2SeqOptions recomputed = small_seq2seq();
  recomputed.checkpoint = true;
  recomputed.block.dropout = 0;
  const nn::Seq2SeqTransformer model = seq2seq_of(recomputed);
  recomputed.checkpoint = false;
  const nn::Seq2SeqTransformer other = seq2seq_of(recomputed);
  other.copy_parameters_from(model);
  {
    const ThreadsGuard threads(1);
    model.loss(kSource, kTarget).backward();
  }
  {
    const ThreadsGuard threads(3);
    other.loss(kSource, kTarget).backward();
  }
  for (const auto& [name, w] : model.named_parameters())
    CHECK(max_difference(w.grad(), other.parameter(name).grad()) == 0);
}

TEST_CASE("Seq2SeqTransformer: the same logits with and without a cache") {
  const NoGrad guard;
  for (const nn::Seq2SeqOptions& options : kinds()) {
    const nn::Seq2SeqTransformer model = seq2seq_of(options);
    const Tensor target_in = randint(1, 7, {3, 9});
    const nn::EncoderOutput source = model.encode(kSource);
    const Tensor whole = model.decode(target_in, source);
    nn::KeyValueCache cache = model.new_cache(3, 9);
    const Tensor parts = cat({model.decode(target_in.slice(1, 0, 4), source, cache),
                              model.decode(target_in.slice(1, 4, 8), source, cache),
                              model.next_logits(target_in.slice(1, 8), source, cache).unsqueeze(1)},
                             1);
    CHECK(max_difference(parts, whole) < 1e-4 * (1 + whole.abs().max().item()));
  }
}

TEST_CASE("Seq2SeqTransformer: generate extends each row until its end, as if it were alone") {
  int ends = 0;
  std::int64_t which = 0;
  for (nn::Seq2SeqOptions options : kinds()) {
    options.end = 3 + which++ % 4;
    const nn::Seq2SeqTransformer model = seq2seq_of(options);
    const Tensor all = model.generate(kSource, 10, {.greedy = true});
    CHECK((model.generate(kSource, 10, {.greedy = true, .cache = false}) == all).all());
    for (std::int64_t b = 0; b < 3; ++b) {
      const Tensor alone = model.generate(kSource[b], 10, {.greedy = true});
      CHECK((all[b].slice(0, 0, alone.size(0)) == alone).all());
      CHECK((all[b].slice(0, alone.size(0)) == 0).all());
      // Every token is the likeliest one after those before it, but for padding.
      const Tensor all_logits = model(kSource.slice(0, b, b + 1), model.shifted(alone.unsqueeze(0)));
      const Tensor logits = masked_fill(all_logits, arange(all_logits.size(2)) == 0, -INFINITY);
      CHECK((logits.argmax(-1)[0] == alone).all());
      const bool ended = alone[-1].item<std::int64_t>() == options.end;
      CHECK((ended || alone.size(0) == 10));
      ends += ended ? 1 : 0;
      CHECK_FALSE((alone.slice(0, 0, -1) == options.end).any());
    }
  }
  CHECK(ends > 0);
  CHECK(ends < 18);
}

TEST_CASE("Seq2SeqTransformer: output_scale multiplies the head's input") {
  nn::Seq2SeqOptions options = small_seq2seq();
  const nn::Seq2SeqTransformer plain = seq2seq_of(options);
  for (const double scale : {2.0, 0.5, -1.0}) {
    options.output_scale = scale;
    const nn::Seq2SeqTransformer scaled(options);
    scaled.load_state_dict(plain.state_dict());
    const nn::EvalMode eval(scaled);
    const Tensor target = scaled.shifted(kSource), expected = plain(kSource, target) * scale;
    CHECK(max_difference(scaled(kSource, target), expected) <= 1e-5 * expected.abs().max().item());
  }
}

TEST_CASE("Seq2SeqTransformer: the cache saves work, also for a single source") {
  const nn::Seq2SeqTransformer model = seq2seq_of(small_seq2seq());
  const auto flops_of = [&](const Tensor& source, bool cache) {
    const Profile profile;
    model.generate(source, 10, {.greedy = true, .cache = cache});
    double flops = 0;
    for (const ProfileEntry& entry : profile.entries()) flops += entry.flops;
    return flops;
  };
  for (const Tensor& source : {kSource, kSource.slice(0, 0, 1)})
    CHECK(flops_of(source, true) < 0.6 * flops_of(source, false));
}

TEST_CASE("Seq2SeqTransformer: generate stops at stop tokens, and reports each column") {
  const nn::Seq2SeqTransformer model = seq2seq_of(small_seq2seq());
  const Tensor all = model.generate(kSource, 10, {.greedy = true});
  for (std::int64_t stop = 3; stop < 7; ++stop) {
    std::vector<Tensor> told;
    const Tensor some =
        model.generate(kSource, 10, {.greedy = true, .stop = {stop}, .on_token = [&](const Tensor& column) {
                                       told.push_back(column);
                                       return true;
                                     }});
    CHECK((stack(told, 1) == some).all());
    for (std::int64_t b = 0; b < 3; ++b) {
      bool over = false;
      for (std::int64_t t = 0; t < some.size(1); ++t) {
        const auto token = some[b][t].item<std::int64_t>(), full_token = all[b][t].item<std::int64_t>();
        CHECK(token == (over ? 0 : full_token));
        over = over || token == stop || token == 2;
      }
    }
  }
  CHECK(model.generate(kSource, 10, {.on_token = [](const Tensor&) { return false; }}).shape() ==
        Shape{3, 1});
  CHECK(model.generate(kSource, 0).shape() == Shape{3, 0});
  Generator one(5), two(5);
  CHECK((model.generate(kSource, 6, {.top_k = 3, .generator = &one}) ==
         model.generate(kSource, 6, {.top_k = 3, .generator = &two}))
            .all());
}

TEST_CASE("Seq2SeqTransformer: initial values") {
  manual_seed(3);
  nn::Seq2SeqOptions options = small_seq2seq();
  options.vocab = 200;
  options.block.d_model = 64;
  options.block.d_ff = 0;
  const nn::Seq2SeqTransformer model(options);
  const auto std_of = [&](const char* name) { return model.parameter(name).to(f64).std().item(); };
  CHECK(std_of("embedding.weight") == near(0.125, 0.05));
  CHECK(std_of("encoder.layers.1.linear1.weight") == near(std::sqrt(2.0 / 320), 0.05));
  CHECK(std_of("decoder.layers.0.multihead_attn.in_proj_weight") == near(std::sqrt(2.0 / 256), 0.05));
  CHECK(std_of("decoder.layers.0.self_attn.out_proj.weight") == near(std::sqrt(2.0 / 128), 0.05));
  options.placement = nn::deep_norm();  // whose numbers for both stacks it finds by itself
  const nn::Seq2SeqTransformer deep(options);
  const double beta = 0.87 * std::pow(16.0 * 2, -1.0 / 16);
  CHECK(deep.parameter("encoder.layers.1.linear1.weight").to(f64).std().item() ==
        near(beta * std::sqrt(2.0 / 320), 0.05));
}

TEST_CASE("Seq2SeqTransformer: parameters, shared ones once") {
  const auto keys = [](const nn::Seq2SeqOptions& options) {
    std::set<std::string> own;
    for (const auto& [name, w] : nn::Seq2SeqTransformer(options).named_parameters())
      if (!name.starts_with("encoder.layers") && !name.starts_with("decoder.layers")) own.insert(name);
    return own;
  };
  using Keys = std::set<std::string>;
  const std::vector<nn::Seq2SeqOptions> all = kinds();
  CHECK(keys(all[0]) == Keys{"embedding.weight"});
  CHECK(keys(all[1]) == Keys{"embedding.weight", "head.weight", "head_bias", "source_positions.weight",
                             "target_positions.weight"});
  CHECK(keys(all[2]) == Keys{"embedding.weight", "encoder.norm.weight", "encoder.norm.bias",
                             "decoder.norm.weight", "decoder.norm.bias"});
  CHECK(keys(all[3]) == Keys{"embedding.weight", "source_embedding.weight"});
  CHECK(keys(all[4]) == Keys{"embedding.weight", "encoder_bias.weight", "decoder_bias.weight"});
  CHECK(nn::Seq2SeqTransformer(all[3]).source_embedding->weight.shape() == Shape{9, 8});
}

TEST_CASE("Seq2SeqTransformer: bad calls") {
  const nn::Seq2SeqTransformer model = seq2seq_of(small_seq2seq());
  const auto made = [](auto change) {
    return [=] {
      nn::Seq2SeqOptions options = small_seq2seq();
      change(options);
      nn::Seq2SeqTransformer{options};
    };
  };
  check_error(made([](auto& o) { o.vocab = 0; }), "Seq2SeqTransformer: expects vocab of 1 or more, got 0");
  check_error(made([](auto& o) { o.end = 7; }),
              "Seq2SeqTransformer: expects end from 0 to 6, the last token, got 7");
  check_error(
      made([](auto& o) { o.pad = 2; }),
      "Seq2SeqTransformer: pad and end are the same token, 2: the loss ignores padding but includes the end");
  check_error(made([](auto& o) { o.source_vocab = -1; }),
              "Seq2SeqTransformer: expects a source_vocab of 1 or more, or 0 for vocab, got -1");
  check_error(made([](auto& o) { o.block.causal = true; }),
              "Seq2SeqTransformer: block.causal is for models with one stack: here the decoder is causal, "
              "the encoder is not");
  check_error(made([](auto& o) { o.block.heads = 3; }),
              "Seq2SeqTransformer: d_model 8 is not divisible by heads 3");
  check_error(made([](auto& o) { o.decoder_layers = 0; }),
              "Seq2SeqTransformer: expects decoder_layers of 1 or more, got 0");
  check_error(
      made([](auto& o) { o.placement = nn::keel(); }),
      "TransformerDecoder: the placement 'Keel' has no decoder_block: of gradus' own, nn::list_placements() "
      "says which are "
      "for decoders with memory; one of yours needs .decoder_block, or nn::placement<R>(), which makes both");
  check_error([&] { model(kSource[0], kTarget); },
              "Seq2SeqTransformer: expects source [B, T], got [5]: add a batch axis with .unsqueeze(0)");
  check_error([&] { model(kSource, kTarget.to(f32)); },
              "Seq2SeqTransformer: expects target_in of i64, got f32 [3, 4]: convert with .to(i64)");
  check_error([&] { model.loss(kSource, kTarget.slice(0, 1)); },
              "Seq2SeqTransformer: source [3, 5] and target [2, 4] have different batch sizes");
  check_error(
      [&] {
        model.shifted(zeros({2, 0}, i64));
      },
      "Seq2SeqTransformer: expects target [B, T] of at least one token, got [2, 0]");
  check_error(
      [&] { model(kSource, kTarget + 5); },
      "Seq2SeqTransformer: token 10 of target_in, at [0, 0], is outside its vocab of 7: expects 0 to 6; "
      "padding is options().pad, 0");
  check_error(
      [&] {
        model(pad(kSource, {0, 9}), kTarget);
      },
      "Seq2SeqTransformer: source has 14 tokens, its context is 12: shorten the text, or make the model with "
      "a larger .context");
  check_error(
      [&] { model.loss(kSource, masked_fill(kTarget, kTarget == 0, -100)); },
      "Seq2SeqTransformer: token -100 of target, at [0, 2], is outside its vocab of 7: expects 0 to 6; "
      "padding is options().pad, 0");
  check_error(
      [&] { model.loss(flip(kSource, {1}), kTarget); },
      "Seq2SeqTransformer: row 0 of source has padding, token 0, at 0, before other tokens: expects it "
      "at the end");
  check_error(
      [&] {
        model.generate(tensor({{4, 2}, {4, 2}, {0, 3}}), 3);
      },
      "Seq2SeqTransformer: row 2 of source has padding, token 0, at 0, before other tokens: expects it "
      "at the end");
  check_error(
      [&] {
        model.loss(kSource, tensor({{4, 2, 0}, {4, 0, 2}, {4, 5, 2}}));
      },
      "Seq2SeqTransformer: row 1 of target has padding, token 0, at 1, before other tokens: expects it "
      "at the end");
  check_error(
      [&] {
        model.loss(kSource, tensor({{4, 2, 0}, {1, 3, 2}, {1, 5, 2}}));
      },
      "Seq2SeqTransformer: row 1 of target begins with the start token, 1: leave it out, the model adds it");
  nn::Seq2SeqOptions marian = small_seq2seq();  // which begins with padding
  marian.start = marian.pad;
  check_error(
      [&] {
        seq2seq_of(marian).loss(kSource, tensor({{0, 4, 2}, {4, 3, 2}, {4, 5, 2}}));
      },
      "Seq2SeqTransformer: row 0 of target begins with the start token, 0: leave it out, the model adds it");
  CHECK(seq2seq_of(marian).loss(kSource, tensor({{4, 5}, {0, 0}, {4, 2}})).item() > 0);  // cut, and nothing
  marian.start = marian.end;
  CHECK(seq2seq_of(marian).loss(kSource, tensor({{2, 0}, {4, 2}, {4, 2}})).item() > 0);  // an empty text
  nn::KeyValueCache room = model.new_cache(3, 20);
  check_error(
      [&] {
        model.decode(full({3, 9}, 4, i64), model.encode(kSource), room);
        model.decode(full({3, 4}, 4, i64), model.encode(kSource), room);
      },
      "Seq2SeqTransformer: target_in has 13 tokens, its context is 12: shorten the text, or make the model "
      "with a larger .context");
  check_error([&] { model.generate(kSource, 13); },
              "Seq2SeqTransformer: generate expects a count of at most 12, its context, got 13");
  check_error([&] { model.generate(kSource, 3, {.top_p = 2}); },
              "Seq2SeqTransformer: generate: expects top_p above 0 and at most 1 (all), got 2");
  check_error([&] { model.beam_search(kSource, {.beams = 0, .count = 3}); },
              "beam_search: expects beams of 1 or more, got 0");
  nn::KeyValueCache cache = model.decoder.new_cache(3, 4);
  check_error([&] { model.next_logits(kTarget, model.encode(kSource), cache); },
              "KeyValueCache: was made by another model or layer: call this one's new_cache()");
}

}  // namespace gradus::test
