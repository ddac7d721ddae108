#include "gradus/nn/attention/attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::Tensors;
using Lines = std::vector<std::string>;

namespace {

/// Section 3.2.2 of Vaswani et al. head by head, with the mask of seen keys [Tq, Tk] as 0 and -inf.
Tensor by_hand(const nn::MultiheadAttention& attn, const Tensor& x, const Tensor& memory, std::int64_t heads,
               const Tensor& hidden = {}) {
  const std::int64_t e = x.size(-1), d = e / heads;
  const auto part = [&](const Tensor& in, std::int64_t i) {
    const Tensor y = matmul(in, attn.in_proj_weight.slice(0, i * e, (i + 1) * e).t());
    return attn.in_proj_bias.defined() ? y + attn.in_proj_bias.slice(0, i * e, (i + 1) * e) : y;
  };
  const Tensor q = part(x, 0), k = part(memory, 1), v = part(memory, 2);
  std::vector<Tensor> outputs;
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto head = [&](const Tensor& t) { return t.slice(-1, h * d, (h + 1) * d); };
    Tensor scores = matmul(head(q), head(k).transpose(1, 2)) / std::sqrt(static_cast<double>(d));
    if (hidden.defined()) scores = scores + hidden;
    outputs.push_back(matmul(softmax(scores, -1), head(v)));
  }
  const Tensor y = matmul(cat(outputs, -1), attn.out_proj.weight.t());
  return attn.out_proj.bias.defined() ? y + attn.out_proj.bias : y;
}

/// 0 on and below the diagonal, -inf above.
Tensor future(std::int64_t t) { return masked_fill(zeros({t, t}), triu(ones({t, t}), 1) == 1, -INFINITY); }

void randomize(const nn::Module& model) {
  for (const auto& [name, w] : model.named_parameters()) nn::init::normal_(w, 0, 0.5);
}

}  // namespace

TEST_CASE("MultiheadAttention: keys are PyTorch's") {
  CHECK(keys_and_shapes(nn::MultiheadAttention({.d_model = 6, .heads = 2})) ==
        Lines{"in_proj_weight [18, 6]", "in_proj_bias [18]", "out_proj.weight [6, 6]", "out_proj.bias [6]"});
  CHECK(keys_and_shapes(nn::MultiheadAttention({.d_model = 6, .heads = 2, .bias = false})) ==
        Lines{"in_proj_weight [18, 6]", "out_proj.weight [6, 6]"});
}

TEST_CASE("MultiheadAttention: has PyTorch's initial values") {
  manual_seed(1);
  const nn::MultiheadAttention attn({.d_model = 64, .heads = 4});
  const double bound = std::sqrt(6.0 / (64 + 192)), out_bound = 1.0 / 8;
  CHECK(attn.in_proj_weight.detach().abs().max().item() <= bound);
  CHECK(attn.in_proj_weight.detach().abs().max().item() > 0.99 * bound);
  CHECK(attn.out_proj.weight.detach().abs().max().item() <= out_bound);
  CHECK(attn.out_proj.weight.detach().abs().max().item() > 0.99 * out_bound);
  CHECK(attn.in_proj_bias.detach().abs().max().item() == 0);
  CHECK(attn.out_proj.bias.detach().abs().max().item() == 0);
}

TEST_CASE("MultiheadAttention: equals the heads written out, self and cross, causal or not") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 5, 6}), memory = randn({2, 3, 6});
  for (const bool bias : {true, false})
    for (const std::int64_t heads : {1, 2, 3, 6}) {
      const nn::MultiheadAttention attn({.d_model = 6, .heads = heads, .bias = bias});
      const nn::MultiheadAttention causal({.d_model = 6, .heads = heads, .causal = true, .bias = bias});
      randomize(attn);
      causal.copy_parameters_from(attn);
      CHECK(max_difference(attn(x), by_hand(attn, x, x, heads)) < 1e-12);
      CHECK(max_difference(attn(x, x), by_hand(attn, x, x, heads)) < 1e-12);
      CHECK(max_difference(attn(x, memory), by_hand(attn, x, memory, heads)) < 1e-12);
      CHECK(max_difference(causal(x), by_hand(attn, x, x, heads, future(5))) < 1e-12);
    }
}

TEST_CASE("MultiheadAttention: gradients") {
  const DefaultDType f64_default(f64);
  const nn::MultiheadAttention attn({.d_model = 4, .heads = 2}),
      causal({.d_model = 4, .heads = 2, .causal = true});
  randomize(attn);
  randomize(causal);
  const Tensor x = randn({2, 3, 4}), memory = randn({2, 5, 4});
  const Tensor padding = tensor({{false, false, true, false, true}, {false, true, false, false, false}});
  check_module(attn, {x}, [&](const Tensors& in) { return attn(in[0]); });
  check_module(causal, {x}, [&](const Tensors& in) { return causal(in[0]); });
  check_module(attn, {x, memory},
               [&](const Tensors& in) { return attn(in[0], in[1], {.key_padding_mask = padding}); });
}

TEST_CASE("MultiheadAttention: key_padding_mask is true where the key is padding") {
  const DefaultDType f64_default(f64);
  const nn::MultiheadAttention attn({.d_model = 4, .heads = 2});
  const Tensor x = randn({2, 4, 4});
  const Tensor padding = tensor({{false, false, true, true}, {false, false, false, true}});
  const Tensor y = attn(x, {.key_padding_mask = padding});
  // The same as sequences without their padding.
  CHECK(max_difference(y.slice(0, 0, 1).slice(1, 0, 2), attn(x.slice(0, 0, 1).slice(1, 0, 2))) < 1e-13);
  CHECK(max_difference(y.slice(0, 1, 2).slice(1, 0, 3), attn(x.slice(0, 1, 2).slice(1, 0, 3))) < 1e-13);
  const auto [out, weights] = attn.with_weights(x, x, {.key_padding_mask = padding});
  CHECK(weights.slice(0, 0, 1).slice(-1, 2).abs().max().item() == 0);
  CHECK(weights[1].slice(-1, 3).abs().max().item() == 0);
  CHECK(weights[1].slice(-1, 0, 3).min().item() > 0);
}

TEST_CASE("MultiheadAttention: visible is true where the query may see the key; score_bias is added") {
  const DefaultDType f64_default(f64);
  const nn::MultiheadAttention attn({.d_model = 4, .heads = 2}),
      causal({.d_model = 4, .heads = 2, .causal = true});
  causal.copy_parameters_from(attn);
  const Tensor x = randn({2, 4, 4});
  const Tensor past = tril(ones({4, 4})) == 1;
  CHECK(max_difference(attn(x, {.visible = past}), causal(x)) < 1e-13);
  CHECK(max_difference(attn(x, {.score_bias = future(4)}), causal(x)) < 1e-13);

  const Tensor bias = randn({4, 4});
  CHECK(max_difference(attn(x, {.score_bias = bias}), by_hand(attn, x, x, 2, bias)) < 1e-12);
  CHECK(max_difference(attn(x, {.visible = past, .score_bias = bias}),
                       by_hand(attn, x, x, 2, bias + future(4))) < 1e-12);
  CHECK(max_difference(causal(x, {.score_bias = bias}), by_hand(attn, x, x, 2, bias + future(4))) < 1e-12);
  // Padding and visibility together: both must allow it.
  const Tensor padding = tensor({{true, false, false, false}, {true, false, false, false}});
  const Tensor both = past & !padding.reshape({2, 1, 1, 4});
  CHECK(max_difference(attn(x, {.key_padding_mask = padding, .visible = past}), attn(x, {.visible = both})) <
        1e-13);
  CHECK(max_difference(causal(x, {.key_padding_mask = padding}), attn(x, {.visible = both})) < 1e-13);
}

TEST_CASE("MultiheadAttention: a query that sees no key gives the output projection's bias") {
  const nn::MultiheadAttention attn({.d_model = 4, .heads = 2});
  nn::init::normal_(attn.out_proj.bias);
  Tensor x = randn({1, 3, 4});
  x.requires_grad_();
  const Tensor y = attn(x, {.key_padding_mask = tensor({{true, true, true}})});
  CHECK(max_difference(y, attn.out_proj.bias.expand({1, 3, 4})) == 0);
  y.backward(ones({1, 3, 4}));
  CHECK(x.grad().abs().max().item() == 0);
}

TEST_CASE("MultiheadAttention: causal outputs do not depend on later positions") {
  const nn::MultiheadAttention attn({.d_model = 8, .heads = 2, .causal = true});
  const Tensor x = randn({1, 6, 8});
  const Tensor y = attn(x);
  for (std::int64_t t = 1; t < 6; ++t) {
    const Tensor changed = x.clone();
    changed.slice(1, t) = randn({1, 6 - t, 8});
    CHECK(max_difference(attn(changed).slice(1, 0, t), y.slice(1, 0, t)) == 0);
    CHECK(max_difference(attn(changed).slice(1, t), y.slice(1, t)) > 1e-3);
  }
}

TEST_CASE("MultiheadAttention: weights on request") {
  const DefaultDType f64_default(f64);
  const nn::MultiheadAttention attn({.d_model = 6, .heads = 3, .causal = true});
  const Tensor x = randn({2, 4, 6}), memory = randn({2, 7, 6});
  const auto [y, mean] = attn.with_weights(x, x);
  const auto [y3, each] = attn.with_weights(x, x, {}, nn::HeadWeights::per_head);
  CHECK(mean.shape() == Shape{2, 4, 4});
  CHECK(each.shape() == Shape{2, 3, 4, 4});
  CHECK(max_difference(y, attn(x)) < 1e-13);
  CHECK(max_difference(y3, y) == 0);
  CHECK(max_difference(each.mean(1), mean) < 1e-15);
  CHECK(max_difference(mean.sum(-1), ones({2, 4})) < 1e-14);  // softmax over the keys
  CHECK(max_difference(triu(mean, 1), zeros({2, 4, 4})) == 0);
  const nn::MultiheadAttention cross({.d_model = 6, .heads = 3});
  CHECK(cross.with_weights(x, memory).second.shape() == Shape{2, 4, 7});
}

TEST_CASE("MultiheadAttention: dropout acts in training only") {
  const nn::MultiheadAttention attn({.d_model = 8, .heads = 2, .dropout = 0.5});
  const Tensor x = randn({2, 6, 8});
  manual_seed(1);
  const Tensor first = attn(x), second = attn(x);
  CHECK(max_difference(first, second) > 0);
  manual_seed(1);
  CHECK(max_difference(attn(x), first) == 0);
  attn.eval();
  CHECK(max_difference(attn(x), attn(x)) == 0);
}

TEST_CASE("MultiheadAttention: bad calls") {
  check_error([] { nn::MultiheadAttention({.d_model = 65, .heads = 4}); },
              "MultiheadAttention: d_model 65 is not divisible by heads 4");
  check_error([] { nn::MultiheadAttention({.heads = 4}); },
              "MultiheadAttention: expects d_model of 1 or more, got 0");
  check_error([] { nn::MultiheadAttention({.d_model = 8}); },
              "MultiheadAttention: expects heads of 1 or more, got 0");
  check_error([] { nn::MultiheadAttention({.d_model = 8, .heads = 2, .dropout = 1.5}); },
              "MultiheadAttention: expects dropout from 0 to 1, got 1.5");
  const nn::MultiheadAttention attn({.d_model = 8, .heads = 2});
  const Tensor x = zeros({2, 3, 8});
  check_error(
      [&] {
        attn(zeros({3, 8}));
      },
      "MultiheadAttention: expects x [B, T, 8], got [3, 8]: add a batch axis with .unsqueeze(0)");
  check_error([&] { attn(zeros({2, 3, 7})); }, "MultiheadAttention: expects x [B, T, 8], got [2, 3, 7]");
  check_error(
      [&] {
        attn(x, zeros({2, 3, 9}));
      },
      "MultiheadAttention: expects memory [B, T, 8], got [2, 3, 9]");
  check_error(
      [&] {
        attn(x, zeros({1, 3, 8}));
      },
      "MultiheadAttention: x [2, 3, 8] and memory [1, 3, 8] have different batch sizes");
  check_error(
      [&] {
        attn(zeros({2, 3, 8}, f64));
      },
      "MultiheadAttention: expects x of f32, as are its parameters, got f64 [2, 3, 8]: convert with "
      ".to(f32)");
  check_error(
      [&] {
        attn(x, {.key_padding_mask = zeros({2, 3})});
      },
      "MultiheadAttention: expects key_padding_mask bool [2, 3] (true = padding), got f32 [2, 3]: compare, "
      "as in "
      "ids == pad");
  check_error(
      [&] {
        attn(x, {.key_padding_mask = zeros({2, 4}, boolean)});
      },
      "MultiheadAttention: expects key_padding_mask bool [2, 3] (true = padding), got bool [2, 4]");
  check_error(
      [&] {
        attn(x, {.visible = zeros({3, 3})});
      },
      "MultiheadAttention: expects visible bool (true = may be seen), broadcast to [2, 2, 3, 3], got f32 [3, "
      "3]: compare, as in mask != 0; pass values to add to the scores as score_bias");
  check_error(
      [&] {
        attn(x, zeros({2, 5, 8}), {.visible = zeros({5, 3}, boolean)});
      },
      "MultiheadAttention: expects visible bool (true = may be seen), broadcast to [2, 2, 3, 5], got bool "
      "[5, 3]");
  check_error(
      [&] {
        attn(x, {.score_bias = zeros({3, 3}, boolean)});
      },
      "MultiheadAttention: expects score_bias f32 (added to the scores), broadcast to [2, 2, 3, 3], got bool "
      "[3, 3]: pass a bool mask as visible");
  check_error(
      [&] {
        attn(x, {.score_bias = zeros({1, 2, 2, 3, 3})});
      },
      "MultiheadAttention: expects score_bias f32 (added to the scores), broadcast to [2, 2, 3, 3], got "
      "f32 [1, 2, 2, 3, 3]");
}
