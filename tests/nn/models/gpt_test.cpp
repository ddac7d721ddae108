#include "gradus/nn/models/gpt.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/adam.h"
#include "nn/check_module.h"

using namespace gradus;
using nn::Placement;
using nn::post_ln;
using nn::pre_ln;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::Tensors;

namespace {

const nn::GPTOptions kTiny{.vocab = 7, .context = 5, .layers = 2, .block = {.d_model = 4, .heads = 2}};

nn::GPT tiny(Placement placement = pre_ln()) {
  nn::GPTOptions options = kTiny;
  options.placement = placement;
  return nn::GPT(options);
}

double std_of(const Tensor& w) { return std::sqrt(w.detach().square().mean().item()); }

}  // namespace

TEST_CASE("GPT: keys and counts, tied or not") {
  const std::vector<std::string> keys = keys_and_shapes(tiny());
  CHECK(keys.size() == 2 + 2 * 12 + 2);
  CHECK(keys[0] == "token_embedding.weight [7, 4]");
  CHECK(keys[1] == "position_embedding.weight [5, 4]");
  CHECK(keys[2] == "layers.0.self_attn.in_proj_weight [12, 4]");
  CHECK(keys[6] == "layers.0.linear1.weight [16, 4]");
  CHECK(keys[keys.size() - 2] == "norm.weight [4]");
  CHECK(keys_and_shapes(tiny(post_ln())).size() == 2 + 2 * 12);

  nn::GPTOptions untied = kTiny;
  untied.tied = false;
  CHECK(keys_and_shapes(nn::GPT(untied)).back() == "head.weight [7, 4]");
  CHECK(nn::GPT(untied).num_parameters() == tiny().num_parameters() + 28);
}

TEST_CASE("GPT: GPT-2's size is 124,439,808 parameters") {
  // 50257 x 768 + 1024 x 768 + 12 x (12 x 768^2 + 13 x 768) + 2 x 768, here from a model of the same form.
  const std::int64_t v = 11, t = 6, l = 3, c = 8;
  const nn::GPT gpt({.vocab = v, .context = t, .layers = l, .block = {.d_model = c, .heads = 2}});
  const auto count = [](std::int64_t V, std::int64_t T, std::int64_t L, std::int64_t C) {
    return V * C + T * C + L * (12 * C * C + 13 * C) + 2 * C;
  };
  CHECK(gpt.num_parameters() == count(v, t, l, c));
  CHECK(count(50257, 1024, 12, 768) == 124439808);
}

TEST_CASE("GPT: the head is the token embedding, the rest as written out") {
  const DefaultDType f64_default(f64);
  const Tensor ids = tensor({{1, 2, 3, 6}, {0, 0, 5, 4}});
  for (const Placement& placement : {pre_ln(), post_ln()}) {
    const nn::GPT gpt = tiny(placement);
    const Tensor x =
        embedding(ids, gpt.token_embedding.weight) + gpt.position_embedding->weight.slice(0, 0, 4);
    CHECK(max_difference(gpt(ids), matmul(gpt.transformer(x), gpt.token_embedding.weight.t())) < 1e-14);
    CHECK(gpt(ids).shape() == Shape{2, 4, 7});
    const Tensor targets = tensor({{2, 3, 6, 1}, {0, 5, 4, 4}});
    CHECK(gpt.loss(ids, targets).item() ==
          doctest::Approx(nll_loss(log_softmax(gpt(ids), -1), targets).item()).epsilon(1e-12));
  }
}

TEST_CASE("GPT: gradients of the loss") {
  const DefaultDType f64_default(f64);
  const Tensor ids = tensor({{1, 2, 3}, {0, 6, 5}}), targets = tensor({{2, 3, 6}, {6, 5, 4}});
  for (const bool tied : {true, false}) {
    nn::GPTOptions options = kTiny;
    options.context = 3;
    options.placement = tied ? pre_ln() : post_ln();
    options.tied = tied;
    const nn::GPT gpt(options);
    for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
    check_module(gpt, {ids, targets}, [&](const Tensors& in) { return gpt.loss(in[0], in[1]); });
  }
}

TEST_CASE("GPT: no position sees a later token") {
  const nn::GPT gpt = tiny();
  const Tensor ids = tensor({{1, 2, 3, 4, 5}});
  const Tensor logits = gpt(ids);
  for (std::int64_t t = 1; t < 5; ++t) {
    const Tensor changed = ids.clone();
    changed.slice(1, t) = 6;
    CHECK(max_difference(gpt(changed).slice(1, 0, t), logits.slice(1, 0, t)) == 0);
    CHECK(max_difference(gpt(changed).slice(1, t, t + 1), logits.slice(1, t, t + 1)) > 0);
  }
}

TEST_CASE("GPT: of shorter rows, filled at the end, only their own tokens count") {
  const NoGrad guard;
  for (const nn::Positions positions : {nn::Positions::learned, nn::Positions::relative}) {
    nn::GPTOptions options = kTiny;
    options.positions = positions;
    const nn::GPT gpt(options);
    test::randomize(gpt);
    const Tensor ids = tensor({{1, 2, 3, 4}, {5, 6, 0, 0}}),
                 next = tensor({{2, 3, 4, 5}, {6, 1, -100, -100}});
    const double alone = 4 * gpt.loss(ids.slice(0, 0, 1), next.slice(0, 0, 1)).item() +
                         2 * gpt.loss(ids.slice(0, 1).slice(1, 0, 2), next.slice(0, 1).slice(1, 0, 2)).item();
    CHECK(std::abs(gpt.loss(ids, next).item() - alone / 6) < 1e-5);
  }
}

TEST_CASE("GPT: starts with GPT-2's scheme") {
  manual_seed(0);
  nn::GPTOptions options{.vocab = 100, .context = 64, .layers = 8, .block = {.d_model = 64, .heads = 4}};
  const nn::GPT gpt(options);
  CHECK(std_of(gpt.token_embedding.weight) / 0.02 == doctest::Approx(1).epsilon(0.05));
  CHECK(std_of(gpt.position_embedding->weight) / 0.02 == doctest::Approx(1).epsilon(0.05));
  CHECK(std_of(gpt.parameter("layers.3.linear1.weight")) / 0.02 == doctest::Approx(1).epsilon(0.05));
  CHECK(std_of(gpt.parameter("layers.3.linear2.weight")) / (0.02 / 4) == doctest::Approx(1).epsilon(0.05));
  CHECK(std_of(gpt.parameter("layers.3.self_attn.out_proj.weight")) / (0.02 / 4) ==
        doctest::Approx(1).epsilon(0.05));
  CHECK(std_of(gpt.parameter("layers.3.linear1.bias")) == 0);
  options.residual_init_scaling = false;
  CHECK(std_of(nn::GPT(options).parameter("layers.3.linear2.weight")) / 0.02 ==
        doctest::Approx(1).epsilon(0.05));
  // An untrained model's loss is that of guessing.
  const Tensor ids = randint(0, 100, {4, 64}), targets = randint(0, 100, {4, 64});
  CHECK(gpt.loss(ids, targets).item() == doctest::Approx(std::log(100)).epsilon(0.02));
}

TEST_CASE("GPT: one seed, one model; one state dict, two placements") {
  manual_seed(4);
  const nn::GPT a = tiny();
  manual_seed(4);
  const nn::GPT b = tiny();
  nn::GPTOptions options = kTiny;
  options.placement = post_ln();
  options.final_norm = true;
  const nn::GPT post(options);
  post.load_state_dict(a.state_dict());
  const Tensor ids = tensor({{1, 2, 3}});
  CHECK(max_difference(a(ids), b(ids)) == 0);
  CHECK(max_difference(a(ids), post(ids)) > 0);
}

TEST_CASE("GPT: generate depends only on weights, prompt, options and generator state") {
  manual_seed(1);
  const nn::GPT gpt = tiny();
  for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
  Generator a(9), b(9);
  const Tensor prompt = tensor({1, 2});
  const Tensor first = gpt.generate(prompt, 12, {.generator = &a});
  CHECK(first.shape() == Shape{14});
  CHECK(first.dtype() == i64);
  CHECK((first.slice(0, 0, 2) == prompt).all());
  CHECK((first == gpt.generate(prompt, 12, {.generator = &b})).all());
  CHECK((first != gpt.generate(prompt, 12, {.generator = &a})).any());  // its state moved on
  manual_seed(3);
  const Tensor drawn = gpt.generate(prompt, 12);
  manual_seed(3);
  CHECK((drawn == gpt.generate(prompt, 12)).all());
  CHECK((gpt.generate(prompt, 0) == prompt).all());
  CHECK(gpt.generate(tensor({{1, 2}, {3, 4}, {5, 6}}), 3, {.greedy = true}).shape() == Shape{3, 5});
}

TEST_CASE("GPT: greedy chooses the likeliest token, given the last `context` tokens") {
  const nn::GPT gpt = tiny();
  for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
  std::vector<std::int64_t> ids{3, 1};
  for (int i = 0; i < 10; ++i) {
    const std::size_t begin = ids.size() > 5 ? ids.size() - 5 : 0;
    const std::vector<std::int64_t> window(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
    const Tensor logits = gpt(from_vector(window, {1, static_cast<std::int64_t>(window.size())}));
    ids.push_back(static_cast<std::int64_t>(logits[0].select(0, -1).argmax().item()));
  }
  CHECK(gpt.generate(tensor({3, 1}), 10, {.greedy = true}).to_vector<std::int64_t>() == ids);
  CHECK(gpt.generate(tensor({3, 1}), 10, {.top_k = 1}).to_vector<std::int64_t>() == ids);
  CHECK(gpt.generate(tensor({3, 1}), 10, {.temperature = 1e-300}).to_vector<std::int64_t>() == ids);
  CHECK(gpt.generate(tensor({3, 1}), 10, {.temperature = 1e-6}).to_vector<std::int64_t>() == ids);
}

TEST_CASE("GPT: top_k samples only from the k likeliest tokens; a high temperature from all") {
  manual_seed(2);
  const nn::GPT gpt = tiny();
  for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
  const Tensor prompt = tensor({{1, 2, 3}});
  const Tensor likeliest = topk(gpt(prompt)[0].select(0, -1), 3).second;
  std::set<std::int64_t> allowed, three, all;
  for (const std::int64_t id : likeliest.span<std::int64_t>()) allowed.insert(id);
  const Tensor many = prompt.expand({400, 3});
  const auto drawn = [&](const nn::GenerateOptions& options) {
    std::set<std::int64_t> seen;
    for (const std::int64_t id : gpt.generate(many, 1, options).select(1, -1).to_vector<std::int64_t>())
      seen.insert(id);
    return seen;
  };
  CHECK(drawn({.temperature = 100, .top_k = 3}) == allowed);
  CHECK(drawn({.temperature = 100}).size() == 7);
  CHECK(drawn({.temperature = 100, .top_k = 50}).size() == 7);
}

TEST_CASE("GPT: generate works in eval mode without a tape and restores the mode") {
  nn::GPTOptions options = kTiny;
  options.block.dropout = 0.5;
  const nn::GPT gpt(options);
  const std::int64_t nodes = live_nodes();
  const Tensor a = gpt.generate(tensor({1, 2}), 6, {.greedy = true});
  CHECK((a == gpt.generate(tensor({1, 2}), 6, {.greedy = true})).all());
  CHECK(live_nodes() == nodes);
  CHECK(gpt.is_training());
  CHECK(gpt.dropout.is_training());
  gpt.eval();
  gpt.generate(tensor({1}), 1);
  CHECK_FALSE(gpt.is_training());
}

TEST_CASE("GPT: memorizes a sequence, with both placements") {
  for (const Placement& placement : {pre_ln(), post_ln()}) {
    manual_seed(0);
    const nn::GPT gpt({.vocab = 5,
                       .context = 8,
                       .layers = 2,
                       .placement = placement,
                       .block = {.d_model = 16, .heads = 2}});
    const Tensor text = tensor({{0, 1, 2, 3, 4, 0, 1, 2, 3}});
    optim::Adam opt(gpt.parameters(), {.lr = 1e-2});
    double loss = 0;
    for (int step = 0; step < 60; ++step) {
      opt.zero_grad();
      const Tensor l = gpt.loss(text.slice(1, 0, 8), text.slice(1, 1, 9));
      l.backward();
      opt.step();
      loss = l.item();
    }
    CHECK(loss < 0.1);
    CHECK(gpt.generate(tensor({0, 1}), 6, {.greedy = true}).to_vector<std::int64_t>() ==
          std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2});
  }
}

TEST_CASE("GPT: bad calls") {
  const nn::GPT gpt = tiny();
  const Tensor ids = tensor({{1, 2, 3}});
  check_error([] { nn::GPT({.context = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}}); },
              "GPT: expects vocab of 1 or more, got 0");
  check_error([] { nn::GPT({.vocab = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}}); },
              "GPT: expects context of 1 or more, got 0");
  check_error([] { nn::GPT({.vocab = 4, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 3}}); },
              "GPT: d_model 4 is not divisible by heads 3");
  check_error(
      [&] {
        gpt(tensor({1, 2}));
      },
      "GPT: expects ids [B, T], got [2]: add a batch axis with .unsqueeze(0)");
  check_error([&] { gpt(zeros({1, 6}, i64)); }, "GPT: expects at most 5 tokens, its context, got ids [1, 6]");
  check_error(
      [&] {
        gpt(tensor({{1, 2}, {3, 7}}));
      },
      "GPT: token 7 of ids, at [1, 1], is outside its vocab of 7: expects 0 to 6");
  check_error(
      [&] {
        gpt.generate(tensor({1, -1}), 1);
      },
      "GPT: token -1 of ids, at [0, 1], is outside its vocab of 7: expects 0 to 6");
  check_error([&] { gpt(zeros({1, 3})); }, "GPT: expects ids of i64, got f32 [1, 3]: convert with .to(i64)");
  check_error(
      [&] {
        gpt.loss(ids, tensor({{1, 2}}));
      },
      "GPT: expects targets of the shape of ids, [1, 3], got [1, 2]");
  check_error([&] { gpt.generate(zeros({0}, i64), 1); },
              "GPT: generate expects a prompt [T] or [B, T] of at least one token, got [0]");
  check_error([&] { gpt.generate(ids, -1); }, "GPT: generate expects a count of 0 or more, got -1");
  check_error([&] { gpt.generate(ids, 1, {.temperature = 0}); },
              "GPT: generate: expects a temperature above 0, got 0: for the likeliest token set greedy");
  check_error([&] { gpt.generate(ids, 1, {.top_k = -1}); },
              "GPT: generate: expects top_k of 0 (all) or more, got -1");
}

TEST_CASE("GPT: rejects targets that are the ids") {
  const nn::GPT gpt({.vocab = 9, .context = 8, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  const Tensor text = tensor({{1, 2, 3, 4, 5, 0}, {2, 2, 6, 0, 0, 0}}), ids = text.slice(1, 0, -1);
  const auto refuses = [&](const Tensor& seen, const Tensor& targets) {
    check_error([&] { gpt.loss(seen, targets); },
                "GPT: targets " + to_string(targets.shape()) +
                    " are the ids, which a model learns to copy: expects the next tokens, as in "
                    "loss(text.slice(1, 0, -1), text.slice(1, 1)) and from data::text_windows");
  };
  const auto accepts = [&](const Tensor& seen, const Tensor& targets) {
    CHECK(std::isfinite(gpt.loss(seen, targets).item()));
  };
  refuses(text, text);
  refuses(text, text.clone());
  refuses(ids, text.slice(1, 0, -1).clone());
  accepts(ids, text.slice(1, 1));
  // Hugging Face's labels, where padding does not count.
  refuses(text, where(text == 0, full({}, -100, i64), text));
  // One character: the ids that come next are equal, of another place; a row of one token cannot tell.
  const Tensor same = full({2, 6}, 3, i64);
  refuses(same, same);
  accepts(same.slice(1, 0, -1), same.slice(1, 1));
  accepts(text.slice(1, 2, 3), text.slice(1, 2, 3).clone());
  accepts(text.slice(1, 2, 3), text.slice(1, 2, 3));
  // One element, expanded: what comes next is at the same address.
  const Tensor expanded = full({2, 1}, 3, i64).expand({2, 6});
  accepts(expanded.slice(1, 0, -1), expanded.slice(1, 1));
  accepts(expanded, expanded);
  // Rows that are expanded have places of their own.
  refuses(text.slice(0, 0, 1).expand({3, 6}), text.slice(0, 0, 1).expand({3, 6}));
  // Packed documents of one token each, which the ends of rows may cut.
  const Tensor packed = tensor({{1, 1, 2, 2}, {2, 2, 2, 3}, {4, 5, 5, 6}});
  accepts(packed, packed.clone());
  refuses(packed, packed);
  refuses(tensor({{1, 1, 2, 2}, {1, 1, 2, 3}}), tensor({{1, 1, 2, 2}, {1, 1, 2, 3}}));
  // Rows of one character, filled at the end with another token, whose targets do not count.
  accepts(tensor({{3, 3, 0, 0}}), tensor({{3, 3, -100, -100}}));
  accepts(same, full({2, 6}, -100, i64));
  accepts(zeros({0, 3}, i64), zeros({0, 3}, i64));
}
