#include "gradus/ops/functional.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "ops/by_differences.h"
#include "values.h"

namespace gradus::test {
namespace {

using Blocks = ListOf<TensorList>;

/// One number for f32 and one for f64, as rounding asks for.
double allowed(DType dtype) { return dtype == f64 ? 1e-11 : 2e-4; }

/// Fails unless all elements differ by at most `share` of the largest (or of 1).
void check_same(const Tensor& got, const Tensor& wanted, double share) {
  REQUIRE(got.shape() == wanted.shape());
  REQUIRE(got.dtype() == wanted.dtype());
  if (got.numel() == 0) return;
  const double largest = std::max(1.0, wanted.abs().max().item());
  CHECK((got - wanted).abs().max().item() <= share * largest);
}

/// All elements in a row.
Tensor row_of(const std::vector<Tensor>& xs) {
  std::vector<Tensor> flat;
  for (const Tensor& x : xs) flat.push_back(x.reshape({-1}));
  return cat(flat, 0);
}

/// Blocks as one matrix: rows are elements of `ys`, columns of `xs`.
Tensor matrix_of(const Blocks& blocks, const std::vector<Tensor>& ys, const std::vector<Tensor>& xs) {
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < ys.size(); ++i) {
    std::vector<Tensor> row;
    for (std::size_t j = 0; j < xs.size(); ++j) {
      Shape shape = ys[i].shape();
      for (const std::int64_t size : xs[j].shape()) shape.push_back(size);
      REQUIRE(blocks[i][j].shape() == shape);
      row.push_back(blocks[i][j].reshape({ys[i].numel(), xs[j].numel()}));
    }
    rows.push_back(cat(row, 1));
  }
  return cat(rows, 0);
}

std::vector<Tensor> random_like(const std::vector<Tensor>& xs) {
  std::vector<Tensor> vs;
  for (const Tensor& x : xs) vs.push_back(randn(x.shape(), x.dtype()));
  return vs;
}

/// jvp = J v and vjp = v^T J.
void check_products(const TensorFunction& f, const std::vector<Tensor>& inputs, double share) {
  const Blocks J = jacobian(f, inputs);
  const std::vector<Tensor> v = random_like(inputs);
  const auto [y, jv] = jvp(f, inputs, v);
  const Tensor matrix = matrix_of(J, y, inputs);
  check_same(row_of(jv), matmul(matrix, row_of(v)), share);
  const std::vector<Tensor> u = random_like(y);
  const auto [same, uj] = vjp(f, inputs, u);
  check_same(row_of(uj), matmul(row_of(u), matrix), share);
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(values(y[i]) == values(same[i]));
    CHECK(jv[i].shape() == y[i].shape());
    CHECK_FALSE(y[i].requires_grad());
    CHECK_FALSE(jv[i].requires_grad());
  }
  for (std::size_t j = 0; j < inputs.size(); ++j) CHECK(uj[j].shape() == inputs[j].shape());
}

/// hvp = H v, and H is symmetric.
void check_hessian(const TensorFunction& loss, const std::vector<Tensor>& inputs, double share) {
  const std::vector<Tensor> v = random_like(inputs);  // first: a loss may draw numbers too
  const Blocks H = hessian(loss, inputs);
  const Tensor matrix = matrix_of(H, inputs, inputs);
  check_same(matrix.t(), matrix, share);
  const std::vector<Tensor> hv = hvp(loss, inputs, v);
  check_same(row_of(hv), matmul(matrix, row_of(v)), share);
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    CHECK(hv[j].shape() == inputs[j].shape());
    CHECK_FALSE(hv[j].requires_grad());
  }
}

/// By differences, in f64, for all parameters of a model.
template <class Loss>
void check_by_differences(const Loss& loss, const std::vector<Tensor>& parameters) {
  const std::vector<Tensor> v = random_like(parameters);
  check_same(row_of(hvp(loss, parameters, v)), row_of(hvp_by_differences(loss, parameters, v)), 1e-6);
}

}  // namespace

TEST_CASE("jacobian, vjp, jvp: known by hand") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    const Tensor m = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), x = tensor({1.0, -1.0, 2.0});
    const auto f = [&](const Tensor& t) { return matmul(m, t); };
    CHECK(values(jacobian(f, {x})[0][0]) == values(m));
    const auto [y, vj] = vjp(f, {x}, {tensor({1.0, 10.0})});
    CHECK(values(y[0]) == Values{5, 11});
    CHECK(values(vj[0]) == Values{41, 52, 63});
    const auto [again, jv] = jvp(f, {x}, {tensor({1.0, 0.0, 2.0})});
    CHECK(values(again[0]) == Values{5, 11});
    CHECK(values(jv[0]) == Values{7, 16});
    // Of a softmax: diag(p) - p p^T.
    const Tensor p = softmax(x, 0);
    const Tensor J = jacobian([](const Tensor& t) { return softmax(t, 0); }, {x})[0][0];
    check_same(J, eye(3) * p - outer(p, p), 1e-6);
  }
}

TEST_CASE("jacobian: of several outputs and inputs, each of both shapes") {
  const Tensor a = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), b = tensor({10.0, 20.0, 30.0});
  const auto f = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{x[0] * x[1], x[1].sum(), x[0].sum(1)};
  };
  const Blocks J = jacobian(f, {a, b});
  CHECK(J.size() == 3);
  CHECK(J[0].size() == 2);
  CHECK(J[0][0].shape() == Shape{2, 3, 2, 3});
  CHECK(J[0][1].shape() == Shape{2, 3, 3});
  CHECK(J[1][0].shape() == Shape{2, 3});
  CHECK(J[1][1].shape() == Shape{3});
  CHECK(J[2][0].shape() == Shape{2, 2, 3});
  CHECK(values(J[0][1][1]) == Values{4, 0, 0, 0, 5, 0, 0, 0, 6});
  CHECK(values(J[0][0][1][2]) == Values{0, 0, 0, 0, 0, 30});
  CHECK(values(J[1][0]) == Values(6, 0));
  CHECK(values(J[1][1]) == Values{1, 1, 1});
  CHECK(values(J[2][0][1]) == Values{0, 0, 0, 1, 1, 1});
  check_products(f, {a, b}, 1e-6);
  // A temporary's elements are values.
  const Tensor& part = jacobian(f, {a, b})[1][1];
  CHECK(values(part) == Values{1, 1, 1});
}

TEST_CASE("hessian, hvp: known by hand, of several inputs") {
  // f = a^3 b + sin(b): H = [[6 a b, 3 a^2], [3 a^2, -sin(b)]]
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    const Tensor a = tensor(1.5), b = tensor({0.7});
    const auto f = [](const Tensor& p, const Tensor& q) { return (p.pow(3) * q + sin(q)).sum(); };
    const double share = dtype == f64 ? 1e-14 : 1e-6;
    const Blocks H = hessian(f, {a, b});
    CHECK(H[0][0].shape() == Shape{});
    CHECK(H[0][1].shape() == Shape{1});
    CHECK(H[1][1].shape() == Shape{1, 1});
    CHECK(H[0][0].item() == near(6 * 1.5 * 0.7, share));
    CHECK(H[0][1].item() == near(3 * 2.25, share));
    CHECK(H[1][0].item() == near(3 * 2.25, share));
    CHECK(H[1][1].item() == near(-std::sin(0.7), share));
    check_hessian(f, {a, b}, share);
    const Tensor x = tensor({1.0, 2.0, 3.0});
    const auto cubes = [](const Tensor& t) { return t.pow(3).sum(); };
    CHECK(values(hessian(cubes, {x})[0][0]) == Values{6, 0, 0, 0, 12, 0, 0, 0, 18});
    CHECK(values(hvp(cubes, {x}, {tensor({1.0, 1.0, -1.0})})[0]) == Values{6, 12, -18});
    // Cross-entropy in its logits: diag(p) - p p^T, whatever the target.
    const Tensor p = softmax(x, 0), target = tensor(1);
    const Tensor of_logits = hessian([&](const Tensor& t) { return cross_entropy(t, target); }, {x})[0][0];
    check_same(of_logits, eye(3) * p - outer(p, p), dtype == f64 ? 1e-14 : 1e-6);
  }
}

TEST_CASE("functional: v may be left out where there is one element") {
  const Tensor x = tensor(2.0, f64);
  const auto cube = [](const Tensor& t) { return t.pow(3); };
  CHECK(vjp(cube, {x}).second[0].item() == 12);
  CHECK(jvp(cube, {x}).second[0].item() == 12);
  CHECK(hvp(cube, {x}, {})[0].item() == 12);
  const auto sum = [](const Tensor& a, const Tensor& b) { return (a * b).sum(); };
  CHECK(values(vjp(sum, {tensor({1.0, 2.0}), tensor({3.0, 4.0})}).second[1]) == Values{1, 2});
}

TEST_CASE("functional: zeros where nothing depends on an input") {
  const Tensor a = tensor({1.0, 2.0}, f64), b = tensor({3.0}), fixed = tensor({5.0, 6.0});
  const auto f = [&](const Tensor& p, const Tensor&) { return std::vector<Tensor>{p * p, fixed}; };
  const Blocks J = jacobian(f, {a, b});
  CHECK(values(J[0][0]) == Values{2, 0, 0, 4});
  CHECK(values(J[0][1]) == Values{0, 0});
  CHECK(J[0][1].dtype() == f32);  // the input's
  CHECK(values(J[1][0]) == Values{0, 0, 0, 0});
  const auto [y, vj] = vjp(f, {a, b}, {ones({2}, f64), ones({2})});
  CHECK(values(vj[0]) == Values{2, 4});
  CHECK(values(vj[1]) == Values{0});
  const auto [same, jv] = jvp(f, {a, b}, {ones({2}, f64), ones({1})});
  CHECK(values(jv[0]) == Values{2, 4});
  CHECK(values(jv[1]) == Values{0, 0});
  // Linear and constant losses.
  const auto linear_loss = [](const Tensor& p, const Tensor&) { return p.sum(); };
  for (const TensorList& row : hessian(linear_loss, {a, b}))
    for (const Tensor& block : row) CHECK(values(block) == Values(static_cast<std::size_t>(block.numel())));
  CHECK(values(hvp(linear_loss, {a, b}, {ones({2}, f64), ones({1})})[0]) == Values{0, 0});
  CHECK(values(hvp([&](const Tensor&) { return fixed.sum(); }, {a}, {ones({2}, f64)})[0]) == Values{0, 0});
  // The output is the input itself; no elements.
  const auto same_again = [](const Tensor& t) { return t; };
  CHECK(values(jvp(same_again, {a}, {tensor({7.0, 8.0}, f64)}).second[0]) == Values{7, 8});
  CHECK(values(jacobian(same_again, {a})[0][0]) == Values{1, 0, 0, 1});
  CHECK(jacobian([](const Tensor& t) { return t.exp(); }, {zeros({0, 2})})[0][0].shape() ==
        Shape{0, 2, 0, 2});
}

TEST_CASE("functional: of functions, inputs need no gradient; nothing changes and nothing stays") {
  const Tensor x = tensor({1.0, 2.0}), w = leaf(tensor({3.0, 4.0}));
  w.set_grad(tensor({9.0, 9.0}));
  const std::int64_t before = live_nodes();
  const Generator::State state = default_generator().state();
  {
    const NoGrad guard;
    const auto f = [&](const Tensor& t) { return dropout(t * w, 0.5).square(); };
    const auto loss = [&](const Tensor& t) { return f(t).sum(); };
    jvp(f, {x}, {ones({2})});
    vjp(f, {x}, {ones({2})});
    const Tensor J = jacobian(f, {x})[0][0], again = jacobian(f, {x})[0][0];
    CHECK(values(J) == values(again));  // the same random numbers
    CHECK_FALSE(hessian(loss, {x})[0][0].requires_grad());
    CHECK_FALSE(hvp(loss, {w}, {ones({2})})[0].requires_grad());  // w as the function's input
  }
  CHECK(default_generator().state() == state);
  CHECK(live_nodes() == before);
  CHECK_FALSE(x.requires_grad());
  CHECK(values(x) == Values{1, 2});
  CHECK(values(w.grad()) == Values{9, 9});
}

TEST_CASE("functional: a function's input is its own, a closure's is the tensor it uses") {
  const Tensor w = leaf(tensor({1.0, 2.0, 3.0}, f64));
  const Tensor v = ones({3}, f64);
  // w twice: as the input t, and as a constant.
  const auto function = [&](const Tensor& t) { return (t * t * w).sum(); };
  CHECK(values(hvp(function, {w}, {v})[0]) == Values{2, 4, 6});
  const auto closure = [&] { return (w * w * w).sum(); };
  CHECK(values(hvp(closure, {w}, {v})[0]) == Values{6, 12, 18});
  CHECK(values(hessian(closure, {w})[0][0]) == Values{6, 0, 0, 0, 12, 0, 0, 0, 18});
  CHECK(values(vjp(closure, {w}).second[0]) == Values{3, 12, 27});
  CHECK(jvp(closure, {w}, {v}).second[0].item() == 42);
  CHECK(values(jacobian(closure, {w})[0][0]) == Values{3, 12, 27});
  CHECK_FALSE(w.grad().defined());
  // A module is a function of its input.
  const DefaultDType guard(f64);
  const nn::Linear layer(3, 2);
  CHECK(values(jacobian(layer, {v})[0][0]) == values(layer.parameter("weight")));
}

TEST_CASE("functional: create_graph: derivatives of the derivatives, also in v") {
  const Tensor x = leaf(tensor({1.0, 2.0}, f64)), v = leaf(tensor({3.0, -1.0}, f64));
  const auto f = [](const Tensor& t) { return t.pow(4); };
  const auto loss = [](const Tensor& t) { return t.pow(4).sum(); };
  const auto in_x = [&](const Tensor& y) { return values(grad(y.sum(), {x})[0]); };
  CHECK(in_x(jacobian(f, {x}, {.create_graph = true})[0][0]) == Values{12, 48});
  CHECK(in_x(hessian(loss, {x}, {.create_graph = true})[0][0]) == Values{24, 48});
  CHECK(in_x(vjp(f, {x}, {v}, {.create_graph = true}).first[0]) == Values{4, 32});
  CHECK(in_x(vjp(f, {x}, {v}, {.create_graph = true}).second[0]) == Values{36, -48});
  CHECK(in_x(jvp(f, {x}, {v}, {.create_graph = true}).second[0]) == Values{36, -48});
  CHECK(in_x(hvp(loss, {x}, {v}, {.create_graph = true})[0]) == Values{72, -48});
  const auto in_v = [&](const Tensor& y) { return values(grad(y.sum(), {v})[0]); };
  CHECK(in_v(vjp(f, {x}, {v}, {.create_graph = true}).second[0]) == Values{4, 32});
  CHECK(in_v(jvp(f, {x}, {v}, {.create_graph = true}).second[0]) == Values{4, 32});
  CHECK(in_v(hvp(loss, {x}, {v}, {.create_graph = true})[0]) == Values{12, 48});
  // Through a closure; and v itself a function of the input.
  const auto closure = [&] { return loss(x); };
  CHECK(in_x(hvp(closure, {x}, {v.detach()}, {.create_graph = true})[0]) == Values{72, -48});
  CHECK(in_x(hvp(loss, {x}, {x * x}, {.create_graph = true})[0]) == Values{48, 384});  // of 12 x^4
  // A Jacobian of a Hessian.
  const auto H = [&](const Tensor& t) { return hessian(loss, {t}, {.create_graph = true})[0][0]; };
  CHECK(values(jacobian(H, {x})[0][0]) == Values{24, 0, 0, 0, 0, 0, 0, 48});
}

TEST_CASE("functional: an MLP of two layers, in f32 and f64") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    manual_seed(1);
    const nn::Sequential net(nn::Linear(3, 5), tanh, nn::Linear(5, 2));
    const Tensor x = randn({4, 3}), y = randn({4, 2});
    const auto loss = [&] { return mse_loss(net(x), y); };
    check_hessian(loss, net.parameters(), allowed(dtype));
    check_products([&] { return net(x); }, net.parameters(), allowed(dtype));
    check_products([&](const Tensor& t) { return net(t); }, {x}, allowed(dtype));
    check_hessian([&](const Tensor& t, const Tensor& u) { return mse_loss(net(t), u); }, {x, y},
                  allowed(dtype));
    if (dtype == f64) check_by_differences(loss, net.parameters());
  }
}

TEST_CASE("functional: Pre-LN and Post-LN blocks, in f32 and f64") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    manual_seed(2);
    const nn::BlockOptions options{
        .d_model = 4, .heads = 2, .d_ff = 6, .activation = nn::Activation::gelu, .causal = true};
    const Tensor x = randn({1, 3, 4}), direction = randn({1, 3, 4});
    const auto check_block = [&](const auto& block) {
      const auto loss = [&] { return (block(x) * direction).sum(); };
      const std::vector<Tensor> some = {block.parameter("norm1.weight"),
                                        block.parameter("self_attn.in_proj_weight"),
                                        block.parameter("linear2.bias")};
      check_hessian(loss, some, allowed(dtype));
      check_hessian([&](const Tensor& t) { return (block(t) * direction).sum(); }, {x}, allowed(dtype));
      check_products([&] { return block(x); }, some, allowed(dtype));
      check_products([&](const Tensor& t) { return block(t); }, {x}, allowed(dtype));
      if (dtype == f64) check_by_differences(loss, block.parameters());
    };
    check_block(nn::PreLNBlock(options));
    check_block(nn::PostLNBlock(options));
  }
}

TEST_CASE("functional: a GPT with dropout, which each call draws again") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    manual_seed(3);
    const nn::GPT gpt(
        {.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 2, .dropout = 0.2}});
    const Tensor ids = randint(0, 5, {2, 4}), next = randint(0, 5, {2, 4});
    const auto loss = [&] { return gpt.loss(ids, next); };
    const Generator::State state = default_generator().state();
    const std::vector<Tensor> some = {gpt.parameter("token_embedding.weight"),
                                      gpt.parameter("layers.0.linear1.bias")};
    const Tensor H = hessian(loss, some)[0][0], again = hessian(loss, some)[0][0];
    CHECK(values(H) == values(again));
    CHECK(default_generator().state() == state);
    check_hessian(loss, some, allowed(dtype));
    if (dtype == f64) check_by_differences(loss, gpt.parameters());
  }
}

TEST_CASE("functional: errors") {
  const Tensor x = tensor({1.0, 2.0}, f64), w = leaf(tensor({1.0, 2.0}, f64));
  const auto f = [](const Tensor& p) { return p.square(); };
  const auto loss = [](const Tensor& p) { return p.square().sum(); };
  check_error([&] { hvp(loss, {x}, {}); }, "hvp: expects one v for each of the 1 inputs, got 0");
  check_error([&] { jvp(f, {x}, {x, x}); }, "jvp: expects one v for each of the 1 inputs, got 2");
  check_error([&] { vjp(f, {x}); }, "vjp: expects one v for each of the 1 outputs, got 0");
  check_error([&] { hvp(loss, {x}, {ones({3}, f64)}); },
              "hvp: expects v 0 of f64 [2], as its input is, got f64 [3]");
  check_error([&] { jvp(f, {x}, {ones({2})}); }, "jvp: expects v 0 of f64 [2], as its input is, got f32 [2]");
  check_error(
      [&] {
        vjp(f, {x}, {ones({2, 1}, f64)});
      },
      "vjp: expects v 0 of f64 [2], as its output is, got f64 [2, 1]");
  check_error([&] { jvp(f, {x}, {Tensor()}); }, "jvp: v 0 is an undefined tensor");
  check_error([&] { hvp(f, {x}, {x}); }, "hvp: expects a loss of one element, got shape [2]");
  check_error([&] { hessian(f, {x}); }, "hessian: expects a loss of one element, got shape [2]");
  check_error(
      [&] {
        hessian([](const Tensor& p) { return std::vector<Tensor>{p.sum(), p.sum()}; }, {x});
      },
      "hessian: expects a loss of one element, got 2 tensors");
  check_error([&] { jacobian(f, {}); }, "jacobian: got no inputs");
  check_error([&] { jacobian([&] { return f(w); }, {}); },
              "jacobian: got no inputs: pass model.parameters()");
  check_error([&] { jacobian(f, {Tensor()}); }, "jacobian: input 0 is an undefined tensor");
  check_error(
      [&] {
        jacobian(f, {tensor({1, 2})});
      },
      "jacobian: input 0 [2] is i64, which has no derivative: leave it to the function");
  check_error([&] { vjp([&] { return f(x); }, {x}, {x}); },
              "vjp: input 0 [2] does not require grad: call requires_grad_() on it before the function uses "
              "it");
  check_error([&] { jacobian([](const Tensor& p) { return p.argmax(); }, {x}); },
              "jacobian: output 0 [] is i64, which has no derivative");
  check_error([&] { jvp([](const Tensor&) { return Tensor(); }, {x}, {x}); },
              "jvp: output 0 is an undefined tensor");
  check_error([&] { vjp([](const Tensor&) { return std::vector<Tensor>(); }, {x}); },
              "vjp: the function returned no tensor");
  check_error([&] { jvp([](const Tensor& a, const Tensor& b) { return a * b; }, {x}, {x}); },
              "jvp: the function takes 2 tensors, got 1 inputs");
  check_error([&] { hvp([&] { return loss(w); }, {w}, {w * w}, {.create_graph = true}); },
              "hvp: v 0 requires grad: with create_graph the function must take its inputs");
  CHECK_THROWS_WITH(hessian([](const Tensor&) -> Tensor { throw Error("inside"); }, {x}), "inside");
}

}  // namespace gradus::test
