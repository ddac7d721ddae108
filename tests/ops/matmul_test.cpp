#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

const Op product = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
// A product adds in another order where its operands lie in another way.
const CheckOptions reordered = {.layout_bits = false};

/// Row-major loops, one matrix of each operand.
std::vector<double> reference(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m,
                              std::int64_t k, std::int64_t n) {
  std::vector<double> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l)
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
  return c;
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected,
                 double tolerance = 1e-12) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance));
}

TEST_CASE("matmul: gradients, layouts and threads over odd shapes") {
  for (const std::int64_t m : {0, 1, 2, 5})
    for (const std::int64_t k : {0, 1, 3})
      for (const std::int64_t n : {0, 1, 4}) check_op("matmul", product, {{m, k}, {k, n}}, reordered);
}

TEST_CASE("matmul: vectors") {
  check_op("matmul", product, {{3}, {3}}, reordered);
  check_op("matmul", product, {{3}, {3, 4}}, reordered);
  check_op("matmul", product, {{2, 3}, {3}}, reordered);
  check_op("matmul", product, {{3}, {2, 3, 4}}, reordered);
  check_op("matmul", product, {{2, 4, 3}, {3}}, reordered);
  CHECK(matmul(zeros({3}), zeros({3})).shape() == Shape{});
  CHECK(matmul(zeros({3}), zeros({2, 3, 4})).shape() == Shape{2, 4});
  CHECK(matmul(zeros({2, 4, 3}), zeros({3})).shape() == Shape{2, 4});
  CHECK(matmul(zeros({0}), zeros({0})).item() == 0);
}

TEST_CASE("matmul: batches broadcast") {
  check_op("matmul", product, {{2, 2, 3}, {2, 3, 4}}, reordered);
  check_op("matmul", product, {{2, 2, 3}, {3, 4}}, reordered);
  check_op("matmul", product, {{2, 3}, {2, 3, 4}}, reordered);
  check_op("matmul", product, {{2, 1, 2, 3}, {3, 3, 4}}, reordered);
  check_op("matmul", product, {{2, 2, 3}, {1, 3, 4}}, reordered);
  check_op("matmul", product, {{0, 2, 3}, {3, 4}}, reordered);
  check_op("matmul", product, {{2, 0, 3}, {2, 3, 4}}, reordered);
}

TEST_CASE("matmul: products that are cut into tiles") {
  check_op("matmul", product, {{300, 130}, {130, 410}}, reordered);
  check_op("matmul", product, {{3, 200, 170}, {170, 190}}, reordered);
  check_op("matmul", product, {{40, 33, 70}, {40, 70, 65}}, reordered);
}

TEST_CASE("matmul: values in every layout of both operands") {
  manual_seed(3);
  const auto layouts = [](const Tensor& x) {
    const Tensor wide = zeros({2 * x.size(0) + 1, x.size(1) + 3}, f64);
    const Tensor view = wide.slice(0, 1, {}, 2).slice(1, 2, 2 + x.size(1));
    view.copy_(x);
    const Tensor sparse = zeros({x.size(0), 2 * x.size(1)}, f64);
    sparse.slice(1, 0, {}, 2).copy_(x);
    return std::vector<Tensor>{x, x.t().contiguous().t(), view, sparse.slice(1, 0, {}, 2)};
  };
  for (const auto& [m, k, n] :
       {std::array{5, 7, 9}, {1, 7, 9}, {5, 7, 1}, {5, 1, 9}, {170, 90, 210}, {8, 300, 67}, {3, 260, 5}}) {
    const Tensor a = randn({m, k}, f64), b = randn({k, n}, f64);
    const std::vector<double> expected = reference(a.to_vector<double>(), b.to_vector<double>(), m, k, n);
    for (const Tensor& left : layouts(a))
      for (const Tensor& right : layouts(b))
        check_close(matmul(left, right).to_vector<double>(), expected, 1e-9);
  }
}

TEST_CASE("matmul: a transposed operand costs no copy") {
  const Tensor a = rand({64, 64}), b = rand({64, 64});
  const auto allocations = [](const Tensor& x, const Tensor& y) {
    const std::int64_t before = memory_stats().total_allocations;
    matmul(x, y);
    return memory_stats().total_allocations - before;
  };
  const std::int64_t plain = allocations(a, b);
  CHECK(allocations(a.t(), b.t()) == plain);
  CHECK(allocations(a.slice(1, 0, 32), b.slice(1, 8, 40).t().slice(1, 0, 32).t()) == plain);
  CHECK(allocations(a.slice(1, 0, 64, 2), b.slice(0, 0, 32)) > plain);
}

TEST_CASE("matmul: a folded batch is the same as each product alone") {
  manual_seed(1);
  const Tensor x = randn({3, 4, 5}, f64), w = randn({5, 6}, f64);
  const Tensor y = matmul(x, w);
  for (std::int64_t i = 0; i < 3; ++i)
    check_close(y[i].to_vector<double>(), matmul(x[i], w).to_vector<double>());
}

TEST_CASE("matmul: infinities and NaN reach the result, and only where they should") {
  const Tensor a = zeros({2, 3}, f64);
  a[1] = tensor({0.0, INFINITY, 0.0});
  const Tensor c = matmul(a, ones({3, 2}, f64));
  CHECK(c[0][0].item() == 0);
  CHECK(c[1][0].item() == INFINITY);
}

TEST_CASE("matmul: errors") {
  check_error(
      [] {
        matmul(zeros({32, 64}), zeros({128, 10}));
      },
      "matmul: a [32, 64] and b [128, 10] do not match: a's last axis is 64, b's second-to-last is 128");
  check_error(
      [] {
        matmul(zeros({2, 3}), zeros({4}));
      },
      "matmul: a [2, 3] and b [4] do not match: a's last axis is 3, b's only axis is 4");
  check_error([] { matmul(zeros({2}), zeros({3})); },
              "matmul: a [2] and b [3] do not match: a's last axis is 2, b's only axis is 3");
  check_error(
      [] {
        matmul(zeros({2}), zeros({3, 2}));
      },
      "matmul: a [2] and b [3, 2] do not match: a's last axis is 2, b's second-to-last is 3");
  check_error([] { matmul(zeros({}), zeros({3})); },
              "matmul: expects at least one axis each, got a [] and b [3]");
  check_error(
      [] {
        matmul(zeros({2, 2}), zeros({2, 2}, f64));
      },
      "matmul: operands have different dtypes: f32 [2, 2] and f64 [2, 2]: convert one with .to()");
  check_error(
      [] {
        matmul(zeros({2, 2}), zeros({2, 3}, bf16));
      },
      "matmul: operands have different dtypes: f32 [2, 2] and bf16 [2, 3]: convert the one of 16 bits with "
      ".to(f32)");
  check_error(
      [] {
        matmul(zeros({2, 2}, i64), zeros({2, 2}, i64));
      },
      "matmul: expects f32 or f64, got i64 [2, 2]: convert with .to(f32)");
  check_error(
      [] {
        matmul(zeros({2, 2, 3}), zeros({4, 3, 2}));
      },
      "matmul: a [2, 2, 3] and b [4, 3, 2] do not match: the batch axes [2] and [4] do not broadcast");
  check_error([] { matmul(Tensor(), zeros({2, 2})); }, "matmul" + kUndefined);
  check_error([] { matmul(zeros({2, 2}), Tensor()); }, "matmul" + kUndefined);
}

TEST_CASE("linear: x may change before a backward that needs the weight alone, and the weight likewise") {
  const Tensor x = ones({2, 3}), w = ones({4, 3}), leaf = ones({2, 3}).requires_grad_();
  const Tensor h = leaf + x, y = linear(h, w);
  const Tensor weight = ones({4, 3}).requires_grad_(), z = linear(x, weight);
  {
    const NoGrad off;
    h.fill_(7);
    weight.fill_(7);
  }
  CHECK((grad(y.sum(), {leaf}, {.create_graph = true})[0] == 4).all());
  CHECK((grad(z.sum(), {weight}, {.create_graph = true})[0] == 2).all());
  y.sum().backward();
  CHECK((leaf.grad() == 4).all());
  z.sum().backward();
  CHECK((weight.grad() == 2).all());
}

TEST_CASE("linear: gradients, layouts and threads") {
  const Op with_bias = [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); };
  const Op without = [](const Tensor& x, const Tensor& w) { return linear(x, w); };
  for (const Shape& x : {Shape{3}, {1, 3}, {4, 3}, {2, 4, 3}, {2, 0, 3}, {2, 1, 2, 3}}) {
    check_op("linear", with_bias, {x, {5, 3}, {5}}, reordered);
    check_op("linear", without, {x, {5, 3}}, reordered);
  }
  check_op("linear", with_bias, {{4, 0}, {5, 0}, {5}}, reordered);
  check_op("linear", with_bias, {{4, 3}, {0, 3}, {0}}, reordered);
  check_op("linear", with_bias, {{4, 3}, {1, 3}, {1}}, reordered);
  check_op("linear", with_bias, {{4, 100, 96}, {170, 96}, {170}}, reordered);
  check_op("linear", with_bias, {{5, 300}, {400, 300}, {400}}, reordered);  // few rows, on several threads
}

TEST_CASE("linear: is x W^T + bias") {
  manual_seed(2);
  const Tensor x = randn({6, 4}, f64), w = randn({3, 4}, f64), bias = randn({3}, f64);
  check_close(linear(x, w, bias).to_vector<double>(), (matmul(x, w.t()) + bias).to_vector<double>());
  check_close(linear(x, w).to_vector<double>(), matmul(x, w.t()).to_vector<double>());
  const Tensor rows = randn({5, 300}), matrix = randn({40, 300}), shift = randn({40});
  const Tensor y = linear(rows, matrix, shift);
  check_close(y.to_vector<double>(), (matmul(rows, matrix.t().contiguous()) + shift).to_vector<double>(),
              1e-4);
  CHECK((linear(rows, matrix, shift, Activation::relu) == relu(y)).all());
  CHECK(linear(zeros({2, 0}), zeros({3, 0}), full({3}, 7.0)).to_vector<float>() == std::vector<float>(6, 7));
}

TEST_CASE("linear with an activation: the bits of both in sequence, values and gradients") {
  manual_seed(4);
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
    for (const Shape& shape : {Shape{3}, {5, 3}, {2, 0, 3}, {2, 300, 3}, {700, 3}}) {
      std::vector<Tensor> parameters = {randn(shape), randn({130, 3}), randn({130})};
      for (Tensor& p : parameters) p.requires_grad_();
      const auto run = [&](auto forward) {
        const Tensor y = forward(parameters[0], parameters[1], parameters[2]);
        y.square().sum().backward();
        std::vector<Tensor> results = {y.detach()};
        for (Tensor& p : parameters) results.push_back(p.grad()), p.zero_grad();
        return results;
      };
      const auto got = run([&](auto&... p) { return linear(p..., activation); });
      const auto expected = run([&](auto&... p) { return activate(activation, linear(p...)); });
      for (std::size_t i = 0; i < got.size(); ++i) CHECK((got[i] == expected[i]).all());
    }
  check_op(
      "linear", [](const Tensor& x, const Tensor& w) { return linear(x, w, {}, Activation::silu); },
      {{4, 3}, {5, 3}}, reordered);
  check_error(
      [] {
        linear(zeros({2, 3}), zeros({4}), {}, Activation::relu);
      },
      "linear: expects a weight [out, in], got [4]");
}

TEST_CASE("linear: only what is needed is computed") {
  const Tensor x = randn({4, 3});
  Tensor w = randn({2, 3});
  w.requires_grad_();
  linear(x, w).sum().backward();
  CHECK(w.grad().shape() == Shape{2, 3});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("linear: errors") {
  check_error([] { linear(zeros({2, 3}), zeros({4})); }, "linear: expects a weight [out, in], got [4]");
  check_error(
      [] {
        linear(zeros({2, 3}), zeros({3, 4}));
      },
      "linear: x [2, 3] and weight [3, 4] do not match: x's last axis must be 4, the weight's second");
  check_error(
      [] {
        linear(zeros({}), zeros({3, 4}));
      },
      "linear: x [] and weight [3, 4] do not match: x's last axis must be 4, the weight's second");
  check_error(
      [] {
        linear(zeros({2, 4}), zeros({3, 4}), zeros({4}));
      },
      "linear: expects a bias [3] for weight [3, 4], got [4]");
  check_error(
      [] {
        linear(zeros({2, 4}), zeros({3, 4}), zeros({1, 3}));
      },
      "linear: expects a bias [3] for weight [3, 4], got [1, 3]");
  check_error(
      [] {
        linear(zeros({2, 4}, f64), zeros({3, 4}));
      },
      "linear: operands have different dtypes: f64 [2, 4] and f32 [3, 4]: convert one with .to()");
  check_error(
      [] {
        linear(zeros({2, 4}), zeros({3, 4}), zeros({3}, f64));
      },
      "linear: operands have different dtypes: f32 [3, 4] and f64 [3]: convert one with .to()");
  check_error(
      [] {
        linear(zeros({2, 4}, i64), zeros({3, 4}, i64));
      },
      "linear: expects x of f32 or f64, got i64 [2, 4]: convert with .to(f32)");
  check_error([] { linear(Tensor(), zeros({3, 4})); }, "linear" + kUndefined);
  check_error([] { linear(zeros({2, 4}), Tensor()); }, "linear" + kUndefined);
}

TEST_CASE("outer") {
  const Op op = [](const Tensor& a, const Tensor& b) { return outer(a, b); };
  for (const Shape& n : {Shape{1}, {3}, {0}})
    for (const Shape& m : {Shape{1}, {4}, {0}}) check_op("outer", op, {n, m}, reordered);
  CHECK(outer(tensor({1.0, 2.0}), tensor({3.0, 4.0, 5.0})).to_vector<float>() ==
        std::vector<float>{3, 4, 5, 6, 8, 10});
  check_error([] { outer(zeros({2, 1}), zeros({3})); }, "outer: expects two vectors, got [2, 1] and [3]");
  check_error([] { outer(zeros({2}, i64), zeros({2}, i64)); },
              "outer: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { outer(zeros({2}), Tensor()); }, "outer" + kUndefined);
  check_error([] { outer(zeros({2}), zeros({2}, f64)); },
              "outer: operands have different dtypes: f32 [2] and f64 [2]: convert one with .to()");
  check_error([] { outer(zeros({2}), zeros({})); }, "outer: expects two vectors, got [2] and []");
}

}  // namespace
}  // namespace gradus::test
