#include "gradus/nn/models/bert.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "near.h"
#include "nn/check_module.h"
#include "threads_guard.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::near;
using test::randomize;
using test::Tensors;

namespace {

const nn::BertOptions kTiny{
    .vocab = 7, .context = 5, .layers = 2, .block = {.d_model = 4, .heads = 2, .d_ff = 6}, .eps = 1e-5};

const Tensor kIds = tensor({{1, 2, 3, 6}, {4, 5, 0, 0}});
const Tensor kTypes = tensor({{0, 0, 1, 1}, {0, 1, 0, 0}});
const Tensor kPadding = tensor({{false, false, false, false}, {false, false, true, true}});
const Tensor kTargets = tensor({{-100, 5, -100, 2}, {3, -100, -100, -100}});
const Tensor kNext = tensor({0, 1});

nn::Bert with_placement(const nn::Placement& placement, bool checkpoint = false) {
  nn::BertOptions options = kTiny;
  options.placement = placement;
  options.checkpoint = checkpoint;
  const nn::Bert bert(options);
  randomize(bert);
  return bert;
}

Tensor loss_of(const nn::Bert& bert) {
  return bert.loss(kIds, {.tokens = kTargets, .next = kNext}, {.token_types = kTypes, .padding = kPadding});
}

bool has_key(const nn::Module& model, const std::string& key) { return model.state_dict().contains(key); }

}  // namespace

TEST_CASE("Bert: keys, with the selected heads") {
  const std::vector<std::string> keys = keys_and_shapes(nn::Bert(kTiny));
  CHECK(keys.size() == 5 + 2 * 12 + 2 + 5 + 2);
  CHECK(keys[0] == "mlm_bias [7]");
  CHECK(keys[1] == "token_embedding.weight [7, 4]");
  CHECK(keys[2] == "position_embedding.weight [5, 4]");
  CHECK(keys[3] == "type_embedding.weight [2, 4]");
  CHECK(keys[4] == "embedding_norm.weight [4]");
  CHECK(keys[6] == "layers.0.self_attn.in_proj_weight [12, 4]");
  CHECK(keys.back() == "nsp_head.bias [2]");
  nn::BertOptions bare = kTiny;
  bare.pooler = bare.mlm_head = bare.nsp_head = false;
  CHECK(keys_and_shapes(nn::Bert(bare)).size() == 5 - 1 + 1 + 2 * 12);
  CHECK_FALSE(has_key(nn::Bert(bare), "pooler.weight"));
}

TEST_CASE("Bert: bert-base has 110,106,428 parameters with both heads") {
  // Here from a model of the same form; 109,482,240 are those without heads.
  const auto count = [](std::int64_t V, std::int64_t T, std::int64_t L, std::int64_t C) {
    const std::int64_t body = (V + T + 2) * C + 2 * C + L * (12 * C * C + 13 * C) + C * C + C;
    return std::pair{body, body + V + C * C + C + 2 * C + 2 * C + 2};
  };
  const nn::Bert bert({.vocab = 11, .context = 6, .layers = 3, .block = {.d_model = 8, .heads = 2}});
  CHECK(bert.num_parameters() == count(11, 6, 3, 8).second);
  CHECK(count(30522, 512, 12, 768).first == 109'482'240);
  CHECK(count(30522, 512, 12, 768).second == 110'106'428);
}

TEST_CASE("Bert: as written out, Post-LN and Pre-LN, which ends with a norm") {
  const DefaultDType f64_default(f64);
  for (const nn::Placement& placement : {nn::post_ln(), nn::pre_ln()}) {
    const nn::Bert bert = with_placement(placement);
    CHECK(has_key(bert, "norm.weight") == (placement == nn::pre_ln()));
    const Tensor words = embedding(kIds, bert.token_embedding.weight);
    const Tensor types = embedding(kTypes, bert.type_embedding.weight);
    const Tensor x = words + bert.position_embedding.weight.slice(0, 0, 4) + types;
    const Tensor h = bert.transformer(bert.embedding_norm(x), {.key_padding_mask = kPadding});
    CHECK(max_difference(bert(kIds, {.token_types = kTypes, .padding = kPadding}), h) < 1e-14);
    const auto affine = [&](const Tensor& in, const std::string& name) {
      return matmul(in, bert.parameter(name + ".weight").t()) + bert.parameter(name + ".bias");
    };
    const Tensor pooled = tanh(affine(h.select(1, 0), "pooler"));
    CHECK(max_difference(bert.pooled(h), pooled) < 1e-14);
    const Tensor mlm =
        matmul((*bert.mlm_norm)(gelu(affine(h, "mlm_dense"))), bert.token_embedding.weight.t());
    CHECK(max_difference(bert.mlm_logits(h), mlm + bert.mlm_bias) < 1e-13);
    const Tensor nsp = affine(pooled, "nsp_head");
    CHECK(max_difference(bert.nsp_logits(h), nsp) < 1e-14);
    const double tokens = cross_entropy(mlm + bert.mlm_bias, kTargets).item(),
                 next = cross_entropy(nsp, kNext).item();
    CHECK(loss_of(bert).item() == near(tokens + next, 1e-12));
    const nn::BertInputs inputs{.token_types = kTypes, .padding = kPadding};
    CHECK(bert.loss(kIds, {.tokens = kTargets}, inputs).item() == near(tokens, 1e-12));
    CHECK(bert.loss(kIds, {.next = kNext}, inputs).item() == near(next, 1e-12));
  }
}

TEST_CASE("Bert: gradients of the loss") {
  const DefaultDType f64_default(f64);
  for (const nn::Placement& placement : {nn::post_ln(), nn::pre_ln(), nn::b2t()}) {
    const nn::Bert bert = with_placement(placement);
    check_module(bert, {}, [&](const Tensors&) { return loss_of(bert); });
  }
  nn::BertOptions odd{.vocab = 5, .context = 3, .layers = 1, .block = {.d_model = 3, .heads = 1, .d_ff = 5}};
  odd.block.activation = nn::Activation::relu;
  const nn::Bert bert(odd);
  randomize(bert);
  const Tensor ids = tensor({{1, 2, 0}, {3, 4, 2}, {1, 0, 0}});
  const Tensor targets = tensor({{-100, 4, -100}, {0, 1, 2}, {-100, -100, -100}});
  check_module(bert, {}, [&](const Tensors&) {
    return bert.loss(ids, {.tokens = targets, .next = tensor({1, 0, 0})}, {.padding = ids == 0});
  });
}

TEST_CASE("Bert: every placement, recomputed and on any number of threads") {
  for (const nn::Placement& placement : nn::placements()) {
    INFO(placement.name);
    const nn::Bert bert = with_placement(placement), again = with_placement(placement, true);
    again.copy_parameters_from(bert);
    loss_of(bert).backward();
    loss_of(again).backward();
    for (const int threads : {1, 2, 3, 8}) {
      const test::ThreadsGuard guard(threads);
      const nn::Bert other = with_placement(placement);
      other.copy_parameters_from(bert);
      loss_of(other).backward();
      for (const auto& [name, w] : bert.named_parameters()) {
        CHECK(max_difference(w.grad(), other.parameter(name).grad()) == 0);
        CHECK(max_difference(w.grad(), again.parameter(name).grad()) == 0);
      }
    }
  }
}

TEST_CASE("Bert: attends to both sides, but not to padding") {
  const nn::Bert bert = with_placement(nn::post_ln());
  const Tensor ids = tensor({{1, 2, 3, 6, 5}});
  for (std::int64_t t = 0; t < 5; ++t) {
    const Tensor changed = ids.clone();
    changed.slice(1, t, t + 1) = 4;
    for (std::int64_t at = 0; at < 5; ++at)
      CHECK(max_difference(bert(ids).select(1, at), bert(changed).select(1, at)) > 0);
    // As padding it can be anything, and as if it were not there at the end.
    const Tensor padding = arange(5, i64).unsqueeze(0) == t;
    const Tensor there = !padding;
    CHECK(equal(bert(ids, {.padding = padding})[there], bert(changed, {.padding = padding})[there]));
  }
  const Tensor padding = arange(5, i64).unsqueeze(0) >= 3;
  CHECK(max_difference(bert(ids, {.padding = padding}).slice(1, 0, 3), bert(ids.slice(1, 0, 3))) < 1e-5);
  // Without token types all are of the first.
  CHECK(max_difference(bert(ids), bert(ids, {.token_types = zeros({1, 5}, i64)})) == 0);
  CHECK(max_difference(bert(ids), bert(ids, {.token_types = ones({1, 5}, i64)})) > 0);
}

TEST_CASE("Bert: the loss without targets is 0") {
  const nn::Bert bert(kTiny);
  const Tensor loss = bert.loss(kIds, {.tokens = full({2, 4}, -100, i64)});
  CHECK(loss.item() == 0);
  loss.backward();
  CHECK(bert.token_embedding.weight.grad().abs().max().item() == 0);
  CHECK(bert(zeros({0, 4}, i64)).shape() == Shape{0, 4, 4});
  CHECK(bert(zeros({2, 0}, i64)).shape() == Shape{2, 0, 4});
}

TEST_CASE("Bert: the initial loss is near that of guessing, and dropout acts only in training") {
  manual_seed(0);
  nn::BertOptions options{.vocab = 100, .context = 16, .layers = 2, .block = {.d_model = 32, .heads = 4}};
  options.block.dropout = 0.5;
  const nn::Bert bert(options);
  CHECK(bert.options().block.eps == 1e-12);
  CHECK(bert.options().block.activation == nn::Activation::gelu);
  const Tensor ids = randint(0, 100, {4, 16});
  const Tensor targets = randint(0, 100, {4, 16});
  CHECK(bert.loss(ids, {.tokens = targets}).item() == near(std::log(100), 0.05));
  CHECK(std::sqrt(bert.token_embedding.weight.detach().square().mean().item()) == near(0.02, 0.05));
  CHECK(bert.mlm_bias.detach().abs().max().item() == 0);
  options.init_std = 0.2;
  const Tensor wide = nn::Bert(options).parameter("layers.1.linear1.weight").detach();
  CHECK(std::sqrt(wide.square().mean().item()) == near(0.2, 0.05));
  CHECK(max_difference(bert(ids), bert(ids)) > 0);
  bert.eval();
  CHECK(max_difference(bert(ids), bert(ids)) == 0);
}

TEST_CASE("Bert: errors") {
  const nn::Bert bert(kTiny);
  const auto make = [](const auto& change) {
    nn::BertOptions options = kTiny;
    change(options);
    nn::Bert made(options);
  };
  using Options = nn::BertOptions;
  check_error([&] { make([](Options& o) { o.vocab = 0; }); }, "Bert: expects vocab of 1 or more, got 0");
  check_error([&] { make([](Options& o) { o.context = 0; }); }, "Bert: expects context of 1 or more, got 0");
  check_error([&] { make([](Options& o) { o.layers = 0; }); }, "Bert: expects layers of 1 or more, got 0");
  check_error([&] { make([](Options& o) { o.token_types = 0; }); },
              "Bert: expects token_types of 1 or more, got 0");
  check_error([&] { make([](Options& o) { o.eps = -1; }); }, "Bert: expects eps of 0 or more, got -1");
  check_error([&] { make([](Options& o) { o.init_std = -1; }); },
              "Bert: expects init_std of 0 or more, got -1");
  check_error([&] { make([](Options& o) { o.block.eps = 1e-6; }); },
              "Bert: expects eps outside of block: {.eps = 1e-06, .block = ...}");
  check_error([&] { make([](Options& o) { o.block.heads = 3; }); },
              "Bert: d_model 4 is not divisible by heads 3");
  check_error([&] { make([](Options& o) { o.block.causal = true; }); },
              "Bert: block.causal is true, but it sees both sides of every token");
  check_error([&] { make([](Options& o) { o.pooler = false; }); },
              "Bert: nsp_head needs the pooler: set pooler, or nsp_head to false");

  check_error(
      [&] {
        bert(tensor({1, 2}));
      },
      "Bert: expects ids [B, T], got [2]: add a batch axis with .unsqueeze(0)");
  check_error(
      [&] {
        bert(zeros({1, 2}));
      },
      "Bert: expects ids of i64, got f32 [1, 2]: convert with .to(i64)");
  check_error(
      [&] {
        bert(zeros({1, 6}, i64));
      },
      "Bert: expects at most 5 tokens, its context, got ids [1, 6]");
  check_error([&] { bert(kIds + 1); },
              "Bert: token 7 of ids, at [0, 3], is outside its vocab of 7: expects 0 to 6");
  check_error(
      [&] {
        bert(kIds, {.token_types = tensor({0, 1})});
      },
      "Bert: expects token_types of the shape of ids, [2, 4], got [2]");
  check_error([&] { bert(kIds, {.padding = kIds}); },
              "Bert: expects padding of bool, true where a token is padding, got i64 [2, 4]");
  check_error([&] { bert(kIds, {.padding = kPadding.slice(1, 0, 3)}); },
              "Bert: expects padding of the shape of ids, [2, 4], got [2, 3]");
  check_error([&] { bert.loss(kIds, {}); }, "Bert: expects targets: loss(ids, {.tokens = targets})");
  check_error([&] { bert.loss(kIds, {.tokens = kNext}); },
              "Bert: expects targets.tokens of the shape of ids, [2, 4], got [2]");
  check_error([&] { bert.loss(kIds, {.next = kIds}); },
              "Bert: expects targets.next [2], one for each row of ids, got [2, 4]");
  check_error(
      [&] {
        bert.pooled(zeros({2, 0, 4}));
      },
      "Bert: expects hidden [B, T, C] of at least one token, got [2, 0, 4]");
  nn::BertOptions bare = kTiny;
  bare.pooler = bare.mlm_head = bare.nsp_head = false;
  const nn::Bert body(bare);
  const Tensor hidden = body(kIds);
  check_error([&] { body.pooled(hidden); }, "Bert: pooled needs the option pooler, which is false");
  check_error([&] { body.mlm_logits(hidden); }, "Bert: mlm_logits needs the option mlm_head, which is false");
  check_error([&] { body.nsp_logits(hidden); }, "Bert: nsp_logits needs the option nsp_head, which is false");
  check_error([&] { body.loss(kIds, {.tokens = kTargets}); },
              "Bert: loss with targets.tokens needs the option mlm_head, which is false");
}

TEST_CASE("Bert: rejects padding of the inverse polarity") {
  const nn::Bert bert(kTiny);
  const auto message = [](int row) {
    return "Bert: row " + std::to_string(row) +
           " of padding [2, 4] is true everywhere, which hides all of its tokens: true means padding, as in "
           "ids == pad (Hugging Face's attention_mask is the inverse); leave out rows that are only padding";
  };
  check_error([&] { bert(kIds, {.padding = kIds != 0}); }, message(0));
  check_error([&] { bert.loss(kIds, {.tokens = kTargets}, {.padding = kIds != 0}); }, message(0));
  check_error(
      [&] {
        bert(kIds, {.padding = tensor({{false, true}, {true, true}}).repeat({1, 2})});
      },
      message(1));
  // No row is all padding here, but all tokens to predict are.
  const Tensor ids = tensor({{1, 5, 3, 0}}), hidden = tensor({{1, 4, 3, 0}});
  check_error(
      [&] { bert.loss(hidden, {.tokens = where(hidden == 4, ids, -100)}, {.padding = hidden != 0}); },
      "Bert: all tokens to be predicted are at padding [1, 4], where true means padding, as in ids == "
      "pad (Hugging Face's attention_mask is the inverse)");
  CHECK(max_difference(bert(kIds, {.padding = kIds == 0})[kIds != 0], bert(kIds)[kIds != 0]) > 0);
  CHECK(bert(zeros({2, 0}, i64), {.padding = zeros({2, 0}, boolean)}).numel() == 0);
}

TEST_CASE("Bert: rejects targets that are the ids") {
  const nn::Bert bert({.vocab = 50, .context = 32, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  const Tensor ids = randint(0, 50, {2, 32});
  const auto message = [](const std::string& shape) {
    return "Bert: targets.tokens " + shape +
           " are the ids wherever they are not -100, which a model learns to copy: expects ids in which "
           "these tokens are hidden, as from data::mask_tokens";
  };
  check_error([&] { bert.loss(ids, {.tokens = ids}); }, message("[2, 32]"));
  check_error([&] { bert.loss(ids.slice(1, 0, 3), {.tokens = ids.slice(1, 0, 3).clone()}); },
              message("[2, 3]"));
  // Also where padding does not count: Hugging Face's labels before anything is masked.
  const Tensor labels = ids.clone();
  labels.slice(1, 24) = -100;
  check_error([&] { bert.loss(ids, {.tokens = labels}); }, message("[2, 32]"));
  // A few that masking left as they are, and one that is hidden among many.
  Tensor few = full({2, 32}, -100, i64);
  few.slice(1, 3, 10) = ids.slice(1, 3, 10);
  CHECK(std::isfinite(bert.loss(ids, {.tokens = few}).item()));
  const Tensor seen = ids.clone();
  seen[1][20] = (ids[1][20] + 1) % 50;
  CHECK(std::isfinite(bert.loss(seen, {.tokens = ids}).item()));
}
