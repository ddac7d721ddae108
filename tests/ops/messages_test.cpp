// Every message names the function that the user called, not an inner one, and gives a remedy.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

struct Row {
  std::string message;  // or what it starts with
  std::function<void()> call;
};

const std::string kRemedy = " is undefined: assign it first; a grad() is undefined before backward";

TEST_CASE("messages: an undefined tensor, anywhere") {
  Tensor u;
  const Tensor x = ones({2, 3}), b = x > 0, i = zeros({2, 3}, i64), v = ones({3}), q = ones({1, 1, 2, 2});
  const std::vector<Row> rows = {
      {"size", [&] { u.size(0); }},
      {"item", [&] { u.item(); }},
      {"to_vector", [&] { u.to_vector<float>(); }},
      {"span", [&] { u.span<float>(); }},
      {"mutable_span", [&] { u.mutable_span<float>(); }},
      {"copy_", [&] { u.copy_(x); }},
      {"fill_", [&] { u.fill_(1); }},
      {"zero_", [&] { u.zero_(); }},
      {"requires_grad_", [&] { u.requires_grad_(); }},
      {"set_grad", [&] { u.set_grad(x); }},
      {"backward", [&] { u.backward(); }},
      {"retain_grad", [&] { u.retain_grad(); }},
      {"on_grad", [&] { u.on_grad([](const Array&) {}); }},
      {"select", [&] { u[0]; }},
      {"slice", [&] { u.slice(0, 1); }},
      {"operator[]", [&] { u[i]; }},
      {"unfold", [&] { u.unfold(0, 1); }},
      {"repeat", [&] { u.repeat({1}); }},
      {"reshape", [&] { u.reshape({1}); }},
      {"view", [&] { u.view({1}); }},
      {"permute", [&] { u.permute({0}); }},
      {"transpose", [&] { u.transpose(0, 1); }},
      {"t", [&] { u.t(); }},
      {"squeeze", [&] { u.squeeze(); }},
      {"unsqueeze", [&] { u.unsqueeze(0); }},
      {"expand", [&] { u.expand({2}); }},
      {"flatten", [&] { u.flatten(); }},
      {"contiguous", [&] { u.contiguous(); }},
      {"clone", [&] { u.clone(); }},
      {"to", [&] { u.to(f64); }},
      {"sum", [&] { u.sum(); }},
      {"mean", [&] { u.mean(); }},
      {"var", [&] { u.var(); }},
      {"max", [&] { u.max(); }},
      {"min", [&] { u.min(); }},
      {"argmax", [&] { u.argmax(); }},
      {"argmin", [&] { u.argmin(); }},
      {"norm", [&] { u.norm(1); }},
      {"std", [&] { u.std(); }},
      {"prod", [&] { u.prod(); }},
      {"max_with_indices", [&] { u.max_with_indices(0); }},
      {"min_with_indices", [&] { u.min_with_indices(0); }},
      {"all", [&] { u.all(0); }},
      {"any", [&] { u.any(0); }},
      {"all", [&] { u.all(); }},
      {"any", [&] { u.any(); }},
      {"logsumexp", [&] { logsumexp(u, 0); }},
      {"cumsum", [&] { cumsum(u, 0); }},
      {"zeros_like", [&] { zeros_like(u); }},
      {"ones_like", [&] { ones_like(u); }},
      {"full_like", [&] { full_like(u, 1); }},
      {"empty_like", [&] { empty_like(u); }},
      {"rand_like", [&] { rand_like(u); }},
      {"randn_like", [&] { randn_like(u); }},
      {"neg", [&] { -u; }},
      {"abs", [&] { abs(u); }},
      {"gelu", [&] { gelu(u); }},
      {"pow", [&] { pow(x, u); }},
      {"maximum", [&] { maximum(x, u); }},
      {"add", [&] { u + 1; }},
      {"sub", [&] { 1 - u; }},
      {"lt", [&] { (void)(u < 1); }},
      {"operator+=", [&] { u += 1; }},
      {"floor_divide", [&] { floor_divide(u, 1); }},
      {"remainder", [&] { u % 2; }},
      {"isfinite", [&] { u.isfinite(); }},
      {"round", [&] { u.round(); }},
      {"leaky_relu", [&] { leaky_relu(u); }},
      {"softplus", [&] { softplus(u); }},
      {"operator!", [&] { !u; }},
      {"operator&", [&] { b& u; }},
      {"where", [&] { where(u, x, x); }},
      {"masked_fill", [&] { masked_fill(x, u, 0); }},
      {"clamp", [&] { clamp(u, 0, 1); }},
      {"allclose", [&] { allclose(x, u); }},
      {"equal", [&] { equal(x, u); }},
      {"matmul", [&] { matmul(x, u); }},
      {"linear", [&] { linear(x, u); }},
      {"outer", [&] { outer(v, u); }},
      {"pad",
       [&] {
         pad(u, {1, 1});
       }},
      {"einsum", [&] { einsum("ij->i", {u}); }},
      {"cat",
       [&] {
         cat({x, u});
       }},
      {"stack", [&] { stack({u}); }},
      {"split", [&] { split(u, 1); }},
      {"chunk", [&] { chunk(u, 1); }},
      {"unbind", [&] { unbind(u); }},
      {"repeat_interleave", [&] { repeat_interleave(u, 2); }},
      {"flip", [&] { flip(u, 0); }},
      {"roll", [&] { roll(u, 1, 0); }},
      {"gather", [&] { gather(u, 0, i); }},
      {"scatter_add", [&] { scatter_add(x, 0, i, u); }},
      {"index_select", [&] { index_select(u, 0, i); }},
      {"scatter", [&] { scatter(x, 0, i, u); }},
      {"index_add", [&] { index_add(x, 0, i, u); }},
      {"masked_select", [&] { masked_select(u, b); }},
      {"nonzero", [&] { nonzero(u); }},
      {"embedding", [&] { embedding(i, u); }},
      {"tril", [&] { tril(u); }},
      {"triu", [&] { triu(u); }},
      {"topk", [&] { topk(u, 1); }},
      {"sort", [&] { sort(u); }},
      {"multinomial", [&] { multinomial(u, 1); }},
      {"softmax", [&] { softmax(u, 0); }},
      {"log_softmax", [&] { log_softmax(u, 0); }},
      {"layer_norm", [&] { layer_norm(u); }},
      {"rms_norm", [&] { rms_norm(u); }},
      {"normalize", [&] { normalize(u, 2, 0); }},
      {"dropout", [&] { dropout(u, 0.5); }},
      {"scaled_dot_product_attention", [&] { scaled_dot_product_attention(q, u, q); }},
      {"self_attention_packed", [&] { self_attention_packed(u, 1); }},
      {"attention_weights", [&] { attention_weights(q, u); }},
      {"cross_entropy", [&] { cross_entropy(u, i); }},
      {"mse_loss", [&] { mse_loss(x, u); }},
      {"kl_div", [&] { kl_div(x, u); }},
  };
  for (const Row& row : rows) check_error(row.call, row.message + kUndefined);
  const std::vector<Row> parts = {
      {"operator=: the source", [&] { x[0] = u; }},
      {"copy_: the source", [&] { x.copy_(u); }},
      {"backward: the gradient", [&] { x.backward(u); }},
      {"add: the second operand", [&] { x + u; }},
      {"operator-=: the second operand", [&] { Tensor(x) -= u; }},
      {"eq: the first operand", [&] { (void)(u == x); }},
      {"where: the second operand", [&] { where(b, x, u); }},
      {"cosine_similarity: the second operand", [&] { cosine_similarity(x, u, 0); }},
      {"operator[]: the index", [&] { x[u]; }},
      {"repeat_interleave: the counts", [&] { repeat_interleave(x, u); }},
      {"gather: the index", [&] { gather(x, 0, u); }},
      {"one_hot: the index", [&] { one_hot(u, 3); }},
      {"embedding: the index", [&] { embedding(u, x); }},
      {"cross_entropy: the target", [&] { cross_entropy(x, u); }},
  };
  for (const Row& row : parts) check_error(row.call, row.message + kRemedy);
}

TEST_CASE("messages: factories name themselves") {
  const Shape bad = {2, -1}, huge = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  Generator g;
  const auto zeros_of = [](const Shape& s) { zeros(s); };
  const auto ones_of = [](const Shape& s) { ones(s); };
  const auto full_of = [](const Shape& s) { full(s, 1); };
  const auto empty_of = [](const Shape& s) { empty(s); };
  const auto rand_of = [](const Shape& s) { rand(s); };
  const auto randn_of = [](const Shape& s) { randn(s); };
  const auto randint_of = [](const Shape& s) { randint(0, 2, s); };
  const std::vector<std::pair<std::string, std::function<void(const Shape&)>>> factories = {
      {"zeros", zeros_of}, {"ones", ones_of},   {"full", full_of},      {"empty", empty_of},
      {"rand", rand_of},   {"randn", randn_of}, {"randint", randint_of}};
  for (const auto& [name, make] : factories) {
    check_error([&, make = make] { make(bad); }, name + ": expects sizes of 0 or more, got [2, -1]");
    check_error([&, make = make] { make(huge); },
                name + ": [1099511627776, 1099511627776] has more elements than memory can address");
  }
  const Tensor ints = arange(3);
  const std::string floats = ": expects f32 or f64, got i64: convert the result with .to(i64)";
  check_error([] { rand({2}, i64); }, "rand" + floats);
  check_error([&] { randn({2}, g, i64); }, "randn" + floats);
  check_error([&] { rand_like(ints); }, "rand_like" + floats);
  check_error([&] { randn_like(ints); }, "randn_like" + floats);
  check_error([] { linspace(0, 1, 3, i64); }, "linspace" + floats);
  check_error([] { randint(3, 3, {2}); }, "randint: expects low < high, got 3 and 3");
  check_error([&] { randint(5, 2, {2}, g); }, "randint: expects low < high, got 5 and 2");
  check_error([] { randperm(-1); }, "randperm: expects n of 0 or more, got -1");
  check_error([] { eye(2, -1); }, "eye: expects sizes of 0 or more, got [2, -1]");
  check_error([] { linspace(0, INFINITY, 3); }, "linspace: expects finite ends, got 0 and inf");
  CHECK(linspace(-1e308, 1e308, 3, f64).to_vector<double>() == std::vector<double>{-1e308, 0, 1e308});
}

TEST_CASE("messages: writes into tensors on the tape") {
  const Tensor w = ones({3}).requires_grad_(), y = w * 2, x = zeros({3});
  const auto leaf = [](const std::string& op) {
    return op +
           ": the tensor [3] requires grad, and an in-place write is not recorded: write it under NoGrad";
  };
  const auto inner = [](const std::string& op, const std::string& from) {
    return op + ": the tensor " + from +
           " and needs its gradient, and an in-place write is not recorded: build the values "
           "with where, cat or stack, write into a detach().clone(), or write a parameter under NoGrad";
  };
  check_error([&] { w.zero_(); }, leaf("zero_"));
  check_error([&] { w.copy_(x); }, leaf("copy_"));
  check_error([&] { w.mutable_span<float>(); }, leaf("mutable_span"));
  check_error([&] { w[0] = 1; }, inner("operator=", "[] came from select"));
  check_error([&] { y[0] = 1; }, inner("operator=", "[] came from select"));
  check_error([&] { y.fill_(1); }, inner("fill_", "[3] came from mul"));
  check_error([&] { x[0] = w[0]; },
              "operator=: the source [] requires grad, and an in-place write is not recorded: write "
              "source.detach(), or build the tensor with cat, stack or where");
  check_error([&] { x[0] = zeros({2, 2}); }, "operator=: a source of shape [2, 2] does not fit into []");
  check_error([&] { x.set_grad(x); },
              "set_grad: the tensor [3] does not require grad: call requires_grad_() first");
}

TEST_CASE("messages: no room for one more axis") {
  const Tensor x = zeros({1, 1, 1, 1, 1, 1, 1, 1}), ids = x.to(i64);
  const std::string full = "[1, 1, 1, 1, 1, 1, 1, 1]";
  check_error([&] { x.unsqueeze(0); }, "unsqueeze: " + full + " has 8 axes, and there is no room for more");
  check_error([&] { stack({x}); }, "stack: " + full + " has 8 axes, and there is no room for more: use cat");
  check_error([&] { one_hot(ids, 2); },
              "one_hot: " + full + " has 8 axes, and there is no room for more: flatten() it first");
  check_error(
      [&] {
        embedding(ids, zeros({2, 2}));
      },
      "embedding: ids " + full + " have 8 axes, and there is no room for more: flatten() them first");
  check_error([] { zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, "Shape: expects at most 8 axes, got 9");
}

TEST_CASE("messages: composed ops name themselves") {
  const Tensor x = ones({2, 3}), v = ones({3}), n = arange(3);
  check_error([&] { outer(v, v.to(f64)); },
              "outer: operands have different dtypes: f32 [3] and f64 [3]: convert one with .to()");
  check_error([&] { x.norm(1, 5); }, "norm: axis 5 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { n.norm(INFINITY); }, "norm: expects f32 or f64, got i64 [3]: convert with .to(f32)");
  check_error([&] { allclose(x, ones({2})); },
              "allclose: shapes [2, 3] and [2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error([&] { clamp(n, 0.2, 0.8); },
              "clamp: there is no i64 from 0.2 to 0.8: convert the tensor [3] with .to(f32)");
  check_error([&] { x.span<double>(); },
              "span: asked for f64 elements, but the tensor [2, 3] holds f32: convert with .to(f64)");
  check_error([&] { x.mutable_span<std::int64_t>(); },
              "mutable_span: asked for i64 elements, but the tensor [2, 3] holds f32: convert with .to(i64)");
}

}  // namespace
}  // namespace gradus::test
