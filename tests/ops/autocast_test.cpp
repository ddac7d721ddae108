// Autocast: which ops it changes, and to what; scopes and threads; backward; what it is made of.

#include "gradus/core/tape/autocast.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check_op.h"
#include "gradus/core/tape/grad.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "isas.h"
#include "threads_guard.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::ThreadsGuard;

namespace {

Tensor as_bf16(const Tensor& x) { return x.to(bf16).to(f32); }

Tensor normal(const Shape& shape, std::uint64_t seed = 1) {
  Generator generator(seed);
  return randn(shape, generator);
}

bool same(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && (a == b).all(); }

/// |got - exact| <= unit sum_k |a_ik b_kj|, for every element.
bool product_within(const Tensor& got, const Tensor& a, const Tensor& b, double unit) {
  const Tensor exact = matmul(a.to(f64), b.to(f64)), size = matmul(abs(a.to(f64)), abs(b.to(f64)));
  return (abs(got.to(f64) - exact) <= size * unit).all();
}

struct Gradients {
  Tensor y, dx, dw;
};

/// The output and gradients of a call of x [6, 10] and w [8, 10].
Gradients gradients(const std::function<Tensor(const Tensor&, const Tensor&)>& f) {
  const Tensor x = normal({6, 10}, 1).requires_grad_(), w = normal({8, 10}, 2).requires_grad_();
  const Tensor y = f(x, w);
  (y * normal(y.shape(), 3)).sum().backward();
  return {y.detach(), x.grad(), w.grad()};
}

/// Inputs for one op, and a call of it.
struct Call {
  std::string op;
  std::function<Tensor(const Tensor& x)> run;  // x [2, 4, 6, 24]
};

const std::vector<Call>& calls() {
  static const std::vector<Call> all = {
      {"matmul",
       [](const Tensor& x) {
         return matmul(x, normal({24, 5}));
       }},
      {"linear",
       [](const Tensor& x) {
         return linear(x, normal({5, 24}), normal({5}));
       }},
      {"scaled_dot_product_attention",
       [](const Tensor& x) {
         return scaled_dot_product_attention(x, normal({2, 4, 7, 24}), normal({2, 4, 7, 24}));
       }},
      {"self_attention_packed",
       [](const Tensor& x) {
         return self_attention_packed(x.reshape({8, 6, 24}), 2);
       }},
      {"attention_weights",
       [](const Tensor& x) {
         return attention_weights(x, normal({2, 4, 7, 24}));
       }},
      {"linear_cross_entropy",
       [](const Tensor& x) {
         return linear_cross_entropy(x, normal({5, 24}), zeros({2, 4, 6}, i64));
       }},
      {"outer", [](const Tensor& x) { return outer(x.flatten(), normal({3})); }},
      {"mul", [](const Tensor& x) { return x * normal({24}); }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"sum", [](const Tensor& x) { return x.sum(); }},
      {"mean", [](const Tensor& x) { return x.mean(); }},
      {"var", [](const Tensor& x) { return var(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x, -1); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }},
      {"layer_norm", [](const Tensor& x) { return layer_norm(x, normal({24}), normal({24})); }},
      {"rms_norm", [](const Tensor& x) { return rms_norm(x, normal({24})); }},
      {"cross_entropy",
       [](const Tensor& x) {
         return cross_entropy(x, zeros({2, 4, 6}, i64));
       }},
      {"mse_loss", [](const Tensor& x) { return mse_loss(x, normal(x.shape(), 5)); }},
      {"embedding", [](const Tensor& x) {
         return embedding(tensor({3, 0, 3}), x.reshape({48, 24}));
       }}};
  return all;
}

/// Output and gradient of a call.
std::pair<Tensor, Tensor> outcome(const Call& call) {
  const Tensor x = normal({2, 4, 6, 24}, 9).requires_grad_();
  const Tensor y = call.run(x);
  (y * normal(y.shape(), 3)).sum().backward();
  return {y.detach(), x.grad()};
}

/// Throws inside a scope.
void throw_inside() {
  const Autocast guard(bf16);
  throw std::runtime_error("inside");
}

}  // namespace

TEST_CASE("autocast: the table names every op that it changes, and no other") {
  std::size_t changed = 0;
  for (const Call& call : calls()) {
    CAPTURE(call.op);
    bool listed = false;
    for (const AutocastOp& row : kAutocastOps) listed = listed || call.op == row.op;
    const auto [y, dx] = outcome(call);
    const Autocast guard(bf16);
    const auto [y16, dx16] = outcome(call);
    CHECK(y16.dtype() == f32);
    CHECK(same(y, y16) == !listed);
    CHECK(same(dx, dx16) == !listed);
    CHECK(allclose(y, y16, 0.05, 0.1));
    changed += listed;
  }
  CHECK(changed == std::size(kAutocastOps));
}

TEST_CASE("autocast: a product is that of rounded operands, with sums in f32") {
  const auto check_product = [](const Tensor& a, const Tensor& b) {
    CAPTURE(to_string(a.shape()));
    CAPTURE(to_string(b.shape()));
    const Autocast guard(bf16);
    const Tensor y = matmul(a, b);
    CHECK(y.dtype() == f32);
    const auto k = static_cast<double>(a.size(-1));
    CHECK(product_within(y, as_bf16(a), as_bf16(b), k * 0x1p-24));
    CHECK(product_within(y, a, b, 0x1.01p-7 + k * 0x1p-24));  // 2^-8 of each operand
  };
  for (const std::int64_t m : {1, 5, 65})
    for (const std::int64_t k : {1, 7, 600})
      for (const std::int64_t n : {1, 17, 70}) {
        check_product(normal({m, k}, 1), normal({k, n}, 2));
        check_product(normal({k, m}, 1).t(), normal({n, k}, 2).t());
      }
  check_product(normal({2, 3, 4, 5}), normal({3, 5, 6}));
  check_product(normal({4, 10}).slice(1, 0, 10, 2), normal({5, 3}));
  check_product(normal({300, 200}), normal({200, 300}));
  const Autocast guard(bf16);
  CHECK(matmul(zeros({0, 3}), zeros({3, 2})).shape() == Shape{0, 2});
  CHECK(same(matmul(zeros({2, 0}), zeros({0, 2})), zeros({2, 2})));
  CHECK(matmul(normal({3}), normal({3})).dim() == 0);
}

TEST_CASE("autocast: the same bits for any number of threads, and any instruction set but AMX and BFMMLA") {
  const Tensor a = normal({190, 1130}, 1), b = normal({1130, 650}, 2), q = normal({2, 3, 70, 16}, 3);
  const auto run = [&] {
    const Autocast guard(bf16);
    return std::vector<Tensor>{matmul(a, b), matmul(a.slice(0, 0, 5), b), matmul(b.t(), a.t()),
                               scaled_dot_product_attention(q, q, q, {.causal = true})};
  };
  const auto check_same = [](const std::vector<Tensor>& x, const std::vector<Tensor>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(same(x[i], y[i]));
  };
  const Bf16Backend backend_before = bf16_backend();
  for (const Bf16Backend backend :
       {Bf16Backend::amx, Bf16Backend::avx512, Bf16Backend::bfmmla, Bf16Backend::in_f32}) {
    if (!bf16_backend_supported(backend)) continue;
    CAPTURE(name(backend));
    set_bf16_backend(backend);
    const std::vector<Tensor> first = run();
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadsGuard guard(threads);
      check_same(run(), first);
    }
  }
  set_bf16_backend(Bf16Backend::in_f32);
  const Tensor product = run()[0];
  const Isa before = current_isa();
  for (const Isa isa : test::kIsas) {
    if (!isa_supported(isa)) continue;
    set_isa(isa);
    for (const Bf16Backend backend : {Bf16Backend::avx512, Bf16Backend::in_f32}) {
      if (!bf16_backend_supported(backend)) continue;
      set_bf16_backend(backend);
      CHECK(same(run()[0], product));
    }
  }
  set_isa(before);
  set_bf16_backend(backend_before);
}

TEST_CASE("autocast: by scope and thread, f32 alone") {
  const Tensor a = normal({5, 40}), b = normal({40, 6});
  const Tensor in_f32 = matmul(a, b);
  CHECK(product_dtype() == f32);
  {
    const Autocast guard(bf16);
    CHECK(product_dtype() == bf16);
    CHECK(!same(matmul(a, b), in_f32));
    CHECK(same(matmul(a.to(f64), b.to(f64)), matmul(a.to(f64), b.to(f64))));
    {
      const Autocast off(f32);
      CHECK(same(matmul(a, b), in_f32));
    }
    CHECK(product_dtype() == bf16);
    DType of_another = bf16;
    std::thread([&] { of_another = product_dtype(); }).join();
    CHECK(of_another == f32);
  }
  CHECK_THROWS_AS(throw_inside(), std::runtime_error);
  CHECK(product_dtype() == f32);
  CHECK(same(matmul(a, b), in_f32));
  const Tensor wide = matmul(a.to(f64), b.to(f64));
  const Autocast guard(bf16);
  CHECK(same(matmul(a.to(f64), b.to(f64)), wide));
  for (const DType dtype : {f16, f64, i64, boolean})
    check_error([=] { const Autocast wrong(dtype); }, "Autocast: expects bf16, or f32 to turn it off, got " +
                                                          std::string(name(dtype)) +
                                                          ": no other dtype is for products");
}

TEST_CASE("autocast: backward computes as forward did, wherever it runs") {
  const auto call = [](const Tensor& x, const Tensor& w) { return linear(x, w); };
  const Gradients plain = gradients(call);
  const Gradients outside = gradients([&](const Tensor& x, const Tensor& w) {
    const Autocast guard(bf16);
    return call(x, w);
  });
  const Tensor x = as_bf16(normal({6, 10}, 1)), w = as_bf16(normal({8, 10}, 2));
  const Tensor dy = as_bf16(normal({6, 8}, 3));
  CHECK(product_within(outside.y, x, w.t(), 10 * 0x1p-24));
  CHECK(product_within(outside.dx, dy, w, 8 * 0x1p-24));
  CHECK(product_within(outside.dw, dy.t(), x, 6 * 0x1p-24));
  {
    const Autocast guard(bf16);
    const Gradients inside = gradients(call);
    CHECK(same(inside.dx, outside.dx));
    CHECK(same(inside.dw, outside.dw));
  }
  const Gradients off = gradients([&](const Tensor& a, const Tensor& b) {
    const Tensor y = call(a, b);
    return y;
  });
  CHECK(same(off.dx, plain.dx));
  CHECK(!same(outside.dx, plain.dx));
}

TEST_CASE("autocast: next to PyTorch 1.13's, a linear layer") {
  // torch.autocast("cpu", torch.bfloat16): it rounds its results to bf16, too, and the bias.
  const auto matrix = [](std::int64_t rows, std::int64_t a, std::int64_t b, std::int64_t modulus,
                         double middle, double over) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < 5; ++j)
        values.push_back(
            static_cast<float>((static_cast<double>((a * i + b * j) % modulus) - middle) / over));
    return from_vector(values, {rows, 5});
  };
  const Tensor x = matrix(3, 7, 3, 11, 5, 7).requires_grad_(), w = matrix(4, 5, 2, 13, 6, 9).requires_grad_();
  const Tensor bias = tensor({0.1, -0.2, 0.3, -0.4}, f32);
  Tensor y;
  {
    const Autocast guard(bf16);
    y = linear(x, w, bias);
  }
  (y * arange(12, f32).reshape({3, 4})).sum().backward();
  const Tensor exact =
      tensor({{0.545747399, 0.592751324, -0.414874256, -0.145162970},
              {-0.218328863, -0.580733478, 1.094116926, -0.495672613},
              {0.068254091, -0.183013156, 0.158257306, -0.495237738}});  // of operands in bf16
  CHECK(allclose(y, exact, 1e-6, 1e-6));
  const Tensor theirs = tensor({{0.546875000, 0.593750000, -0.414062500, -0.145507812},
                                {-0.217773438, -0.582031250, 1.093750000, -0.496093750},
                                {0.068359375, -0.183593750, 0.159179688, -0.496093750}});
  CHECK(allclose(y, theirs, 0x1p-8, 0x1p-10));
  const Tensor dx = tensor({{-0.554687500, 0.777343750, -0.773437500, 0.554687500, 0.445312500},
                            {-3.671875000, 1.218750000, -2.546875000, 2.343750000, 0.0},
                            {-6.812500000, 1.671875000, -4.343750000, 4.125000000, -0.406250000}});
  const Tensor dw = tensor({{-1.140625000, 4.000000000, 2.843750000, -4.562500000, 0.570312500},
                            {-1.859375000, 4.562500000, 3.125000000, -4.562500000, 0.289062500},
                            {-2.562500000, 5.125000000, 3.406250000, -4.562500000, 0.0},
                            {-3.281250000, 5.718750000, 3.703125000, -4.562500000, -0.281250000}});
  // Its gradients are up to 0.04 from the exact sums of rounded operands.
  CHECK(allclose(x.grad(), dx, 0x1p-8, 0x1p-4));
  CHECK(allclose(w.grad(), dw, 0x1p-8, 0x1p-4));
}

TEST_CASE("autocast: with checkpoint, and gradients on the tape") {
  const auto block = [](const Tensor& x, const Tensor& w) {
    return gelu(linear(layer_norm(x, ones({10}), zeros({10})), w));
  };
  const Autocast guard(bf16);
  const Gradients plain = gradients(block);
  const Gradients again = gradients([&](const Tensor& x, const Tensor& w) {
    return checkpoint([&block, w](const Tensor& in) { return block(in, w); }, x);
  });
  CHECK(same(again.y, plain.y));
  CHECK(same(again.dx, plain.dx));
  CHECK(same(again.dw, plain.dw));

  const Tensor x = normal({6, 10}, 1).requires_grad_(), w = normal({8, 10}, 2).requires_grad_();
  Tensor y = linear(x, w);
  const Autocast off(f32);  // the gradient's products are those of forward all the same
  const Tensor dx = grad((y * y).sum(), {x}, {.create_graph = true})[0];
  CHECK(product_within(dx, as_bf16(y.detach() * 2), as_bf16(w.detach()), 8 * 0x1p-24));
  dx.square().sum().backward();
  CHECK(w.grad().defined());
}

TEST_CASE("autocast: a model learns, its parameters, gradients and optimizer in f32") {
  manual_seed(1);
  nn::Linear first(8, 32), second(32, 4);
  std::vector<Tensor> parameters{first.weight, first.bias, second.weight, second.bias};
  optim::Adam adam(parameters, {.lr = 1e-2});
  const Tensor x = normal({64, 8}), target = argmax(matmul(x, normal({8, 4}, 7)), -1);
  double before = 0, after = 0;
  for (int step = 0; step < 60; ++step) {
    // [step]
    Tensor loss;
    {
      const Autocast guard(bf16);
      loss = cross_entropy(second(relu(first(x))), target);
    }
    adam.zero_grad();
    loss.backward();
    adam.step();
    // [/step]
    after = loss.item();
    if (step == 0) before = after;
  }
  for (const Tensor& p : parameters) {
    CHECK(p.dtype() == f32);
    CHECK(p.grad().dtype() == f32);
  }
  CHECK(after < 0.2 * before);
}

TEST_CASE("bf16 weights: linear reads them as they are, with the bits of Autocast") {
  const auto check_weight = [](const Tensor& x, const Tensor& w, const Tensor& bias) {
    CAPTURE(to_string(x.shape()));
    CAPTURE(to_string(w.shape()));
    const Tensor y = linear(x, w, bias), rectified = linear(x, w, bias, Activation::relu);
    const Autocast guard(bf16);
    CHECK(y.dtype() == f32);
    CHECK(same(y, linear(x, w.to(f32), bias)));
    CHECK(same(rectified, linear(x, w.to(f32), bias, Activation::relu)));
  };
  for (const std::int64_t rows : {0, 1, 3, 70})
    for (const std::int64_t k : {1, 33, 700})
      check_weight(normal({rows, k}), normal({90, k}, 2).to(bf16), normal({90}, 3));
  check_weight(normal({2, 3, 40}), normal({5, 40}).to(bf16), Tensor());
  check_weight(normal({4, 27}), normal({6, 40}).to(bf16).slice(1, 3, 30), Tensor());         // rows apart
  check_weight(normal({4, 6}), normal({6, 40}).to(bf16).t(), normal({40}));                  // copied
  check_weight(normal({40, 4}).t(), normal({6, 80}).to(bf16).slice(1, 0, 80, 2), Tensor());  // so is this
  check_weight(normal({3, 0}), zeros({5, 0}, bf16), normal({5}));
  CHECK(linear(normal({3, 4}), zeros({0, 4}, bf16)).shape() == Shape{3, 0});
  const Tensor x = normal({3, 4}), w = normal({5, 4}).to(bf16);
  check_error([&] { linear(x.to(f64), w); },
              "linear: expects x of f32 for a weight in bf16, got f64 [3, 4]: convert x with .to(f32)");
  check_error(
      [&] { linear(Tensor(x).clone().requires_grad_(), w); },
      "linear: with a weight in bf16, which is for inference, there is no gradient, but x requires one: "
      "call it under NoGrad, or convert the weight with .to(f32)");
  check_error([&] { linear_cross_entropy(x, w, zeros({3}, i64)); },
              "linear_cross_entropy: expects a weight of f32 or f64, got bf16 [5, 4]: use "
              "cross_entropy(linear(x, weight), target), for a model cross_entropy(model(ids), targets)");
  CHECK_THROWS(linear(x, normal({5, 4}).to(f16)));
}
