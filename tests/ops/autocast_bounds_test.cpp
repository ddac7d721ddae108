// Autocast's errors: every op of its table and what is made of them next to f64 and f32, on every instruction
// set; odd shapes, strides and nothing at all.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/tape/autocast.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/ops.h"
#include "isas.h"

using namespace gradus;

namespace {

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype) {
  Generator generator(seed);
  return randn(shape, generator).to(dtype);
}

double length(const Tensor& x) { return sqrt(x.to(f64).square().sum()).item(); }

/// |a - b| / |b|
double distance(const Tensor& a, const Tensor& b) {
  return length(a.to(f64) - b.to(f64)) / (length(b) + 1e-30);
}

/// A function of three inputs, in any dtype.
struct Made {
  std::string name;
  Shape a, b, c;
  std::function<Tensor(const Tensor& a, const Tensor& b, const Tensor& c)> run;
};

const std::vector<Made>& made() {
  static const std::vector<Made> all = {
      {"matmul, a batch", {2, 5, 7}, {2, 7, 9}, {1}, [](auto& a, auto& b, auto&) { return matmul(a, b); }},
      {"matmul, transposes and steps",
       {14, 33},
       {17, 14},
       {1},
       [](auto& a, auto& b, auto&) { return matmul(a.t(), b.slice(0, 0, 17, 2).t()); }},
      {"matmul, long", {3, 1100}, {1100, 2}, {1}, [](auto& a, auto& b, auto&) { return matmul(a, b); }},
      {"matmul, vectors", {41}, {41, 3}, {1}, [](auto& a, auto& b, auto&) { return matmul(a, b); }},
      {"linear", {2, 3, 19}, {11, 19}, {11}, [](auto& a, auto& b, auto& c) { return linear(a, b, c); }},
      {"linear, ReLU",
       {6, 19},
       {11, 19},
       {11},
       [](auto& a, auto& b, auto& c) { return linear(a, b, c, Activation::relu); }},
      {"attention",
       {2, 3, 9, 8},
       {2, 3, 13, 8},
       {2, 3, 13, 8},
       [](auto& a, auto& b, auto& c) { return scaled_dot_product_attention(a, b, c); }},
      {"attention, causal",
       {1, 2, 67, 16},
       {1, 2, 67, 16},
       {1, 2, 67, 16},
       [](auto& a, auto& b, auto& c) { return scaled_dot_product_attention(a, b, c, {.causal = true}); }},
      {"self_attention_packed",
       {2, 9, 24},
       {1},
       {1},
       [](auto& a, auto&, auto&) { return self_attention_packed(a, 2); }},
      {"attention_weights",
       {1, 2, 5, 8},
       {1, 2, 6, 8},
       {1},
       [](auto& a, auto& b, auto&) { return attention_weights(a, b); }},
      {"linear_cross_entropy",
       {7, 12},
       {10, 12},
       {10},
       [](auto& a, auto& b, auto& c) {
         return linear_cross_entropy(a, b, arange(7), {.reduction = Reduction::sum}, c);
       }},
      {"einsum", {4, 6}, {6, 5}, {5}, [](auto& a, auto& b, auto& c) { return einsum("ij,jk,k->i", {a, b, c}); }}};
  return all;
}

/// Output and gradients.
std::vector<Tensor> outcome(const Made& one, DType dtype) {
  const Tensor a = normal(one.a, 1, dtype).requires_grad_(), b = normal(one.b, 2, dtype).requires_grad_(),
               c = normal(one.c, 3, dtype).requires_grad_();
  const Tensor y = one.run(a, b, c);
  (y * normal(y.shape(), 4, dtype)).sum().backward();
  std::vector<Tensor> all{y.detach()};
  for (const Tensor& x : {a, b, c})
    if (x.grad().defined()) all.push_back(x.grad());
  return all;
}

/// All of them but for a few units of bf16's rounding, 2^-8.
void check_all() {
  for (const Made& one : made()) {
    CAPTURE(one.name);
    const std::vector<Tensor> exact = outcome(one, f64), whole = outcome(one, f32);
    const Autocast guard(bf16);
    const std::vector<Tensor> half = outcome(one, f32);
    REQUIRE(half.size() == exact.size());
    double largest = 0;
    for (std::size_t i = 0; i < half.size(); ++i) {
      CAPTURE(i);
      CHECK(half[i].dtype() == f32);
      CHECK(distance(half[i], exact[i]) < 4 * 0x1p-8);
      CHECK(distance(half[i], whole[i]) < 4 * 0x1p-8);
      CHECK(distance(whole[i], exact[i]) < 0x1p-18);
      largest = std::max(largest, distance(half[i], exact[i]));
    }
    CHECK(largest > 0x1p-14);  // it is in bf16
  }
}

}  // namespace

TEST_CASE("autocast: outputs and gradients next to f64 and f32, on every instruction set") {
  const Isa before = current_isa();
  for (const Isa isa : test::kIsas) {
    if (!isa_supported(isa)) continue;
    CAPTURE(name(isa));
    set_isa(isa);
    check_all();
  }
  set_isa(before);
}

TEST_CASE("autocast: the gradient of queries with many keys, whose mean it does not depend on") {
  // What keys and values have in common is far larger than the gradient of a query: the gradients of its
  // scores must add up to 0.
  constexpr std::int64_t keys = 2100;
  const auto common = [](double of, const Tensor& x, std::uint64_t seed) {
    return x * of + normal({1, 1, 1, 16}, seed, f32);
  };
  const Tensor q0 = normal({1, 1, 20, 16}, 1, f32) * 0.3,
               k0 = common(0.5, normal({1, 1, keys, 16}, 2, f32), 3),
               v0 = common(1, normal({1, 1, keys, 16}, 4, f32), 5), dy = normal({1, 1, 20, 16}, 6, f32);
  const auto gradient = [&](DType dtype) {
    const Tensor q = q0.to(dtype).requires_grad_();
    (scaled_dot_product_attention(q, k0.to(dtype), v0.to(dtype)) * dy.to(dtype)).sum().backward();
    return q.grad();
  };
  const Tensor exact = gradient(f64);
  const Autocast guard(bf16);
  CHECK(distance(gradient(f32), exact) < 4 * 0x1p-8);
}

TEST_CASE("autocast: modules made of products") {
  manual_seed(5);
  const nn::MultiheadAttention attention({.d_model = 24, .heads = 3});
  const nn::Conv1d conv(24, 6, 3);
  const nn::LSTM lstm({.input_size = 24, .hidden_size = 10});
  const nn::FFN ffn({.d_model = 24, .gated = true});
  const Tensor x = normal({2, 9, 24}, 6, f32);
  const std::vector<std::pair<std::string, std::function<Tensor()>>> calls = {
      {"attention", [&] { return attention(x); }},
      {"conv", [&] { return conv(x.transpose(1, 2)); }},
      {"lstm", [&] { return lstm(x).y; }},
      {"ffn", [&] { return ffn(x); }}};
  for (const auto& call : calls) {
    CAPTURE(call.first);
    const Tensor whole = call.second().detach();
    const Autocast guard(bf16);
    const Tensor half = call.second().detach();
    CHECK(distance(half, whole) > 0x1p-14);
    CHECK(distance(half, whole) < 4 * 0x1p-8);
  }
}

TEST_CASE("autocast: nothing to multiply") {
  const Autocast guard(bf16);
  CHECK(linear(zeros({0, 4}), zeros({3, 4}), zeros({3})).shape() == Shape{0, 3});
  CHECK(matmul(zeros({2, 0, 3}), zeros({3, 5})).shape() == Shape{2, 0, 5});
  CHECK((linear(zeros({2, 0}), zeros({3, 0}), ones({3})) == 1).all());
  const Tensor q = zeros({0, 2, 4, 8});
  CHECK(scaled_dot_product_attention(q, q, q).shape() == q.shape());
  Tensor x = zeros({0, 4}).requires_grad_(), w = ones({3, 4}).requires_grad_();
  linear(x, w).sum().backward();
  CHECK((w.grad() == 0).all());
}
