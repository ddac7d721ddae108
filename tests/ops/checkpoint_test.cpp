#include "gradus/ops/checkpoint.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/grad.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/tape/scope.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::Values;

namespace {

Tensor leaf(const Shape& shape) { return randn(shape).requires_grad_(); }

Values gradient(const Tensor& x) { return x.grad().defined() ? x.grad().to_vector<double>() : Values{}; }

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || a.to_vector<double>() == b.to_vector<double>());
}

}  // namespace

TEST_CASE("checkpoint is an ordinary op") {
  const auto f = [](const Tensor& x, const Tensor& w) { return tanh(matmul(x, w)).square() + x.sum(); };
  check_op("checkpoint", [=](const Tensor& x, const Tensor& w) { return checkpoint(f, x, w); },
           {{3, 4}, {4, 5}});
  check_op("checkpoint in checkpoint",
           [=](const Tensor& x, const Tensor& w) {
             return checkpoint(
                 [=](const Tensor& a, const Tensor& b) {
                   return exp(checkpoint(f, a.sigmoid(), b) * 0.1) + checkpoint(f, a, b);
                 },
                 x, w);
           },
           {{3, 4}, {4, 5}});
}

TEST_CASE("checkpoint adds gradients where, and in the order in which, they are added without it") {
  // Everything is used often: x inside, twice, and outside; w inside both calls and outside; h is not an
  // input.
  const auto gradients = [](bool on) {
    manual_seed(3);
    const Tensor x = leaf({7, 7}), w = leaf({7, 7}), unused = leaf({7, 7});
    const Tensor h = (x * w).tanh();
    const auto f = [w, h](const Tensor& a) {
      return dropout(matmul(a, w) + a * h, 0.3, true) + matmul(a, w.t());
    };
    const auto call = [&](const Tensor& a) { return on ? checkpoint(f, a) : f(a); };
    const Tensor y = call(x + 1.0), z = call(y + h) + matmul(x, w);
    (z * y + h).sum().backward();
    CHECK_FALSE(unused.grad().defined());
    return std::vector<Tensor>{x.grad(), w.grad(), z, rand({3})};
  };
  const auto with = gradients(true), without = gradients(false);
  for (std::size_t i = 0; i < with.size(); ++i) CHECK(same_bits(with[i], without[i]));
}

TEST_CASE("checkpoint: gradients of parameters where no input wants one") {
  const nn::Linear fc(4, 3);
  const Tensor x = randn({2, 4});
  const Tensor y = checkpoint([fc](const Tensor& a) { return fc(a); }, x);
  CHECK(y.requires_grad());
  int seen = 0;
  fc.weight.on_grad([&](const Array&) { ++seen; });
  y.sum().backward();
  CHECK(seen == 1);  // once, complete
  const Values expected = gradient(fc.weight);
  fc.zero_grad();
  fc(x).sum().backward();
  CHECK(gradient(fc.weight) == expected);

  fc.requires_grad_(false);
  CHECK_FALSE(checkpoint([fc](const Tensor& a) { return fc(a); }, x).requires_grad());
}

TEST_CASE("checkpoint: gradients of gradients are those without it, of any order") {
  // x is an input, w a parameter f uses, h neither. Third derivatives; checkpoints in checkpoints.
  const auto derivatives = [](bool on) {
    manual_seed(4);
    const Tensor x = randn({3, 3}, f64).requires_grad_(), w = randn({3, 3}, f64).requires_grad_();
    const Tensor h = (x * w).tanh();
    const auto call = [on](const auto& f, const Tensor& a) { return on ? checkpoint(f, a) : f(a); };
    const auto inner = [w](const Tensor& a) { return tanh(matmul(dropout(a, 0.3, true), w)); };
    const auto f = [w, h, inner, call](const Tensor& a) {
      return dropout(call(inner, a * h), 0.3, true) * a + matmul(a, w.t()).tanh();
    };
    const std::vector<Tensor> inputs{x, w};
    const auto size = [](const TensorList& gradients) {
      return gradients[0].square().sum() + (gradients[1] * gradients[1] * gradients[0]).sum();
    };
    const Tensor y = call(f, x + 1.0), z = call(f, y * h);
    const TensorList first = grad((z * y).sum(), inputs, {.create_graph = true});
    const TensorList second = grad(size(first), inputs, {.create_graph = true});
    const TensorList third = grad(size(second), inputs);
    return std::vector<Tensor>{first[0], first[1], second[0], second[1], third[0], third[1], rand({3}, f64)};
  };
  const std::int64_t nodes = live_nodes();
  for (int round = 0; round < 3; ++round) {
    const auto with = derivatives(true), without = derivatives(false);
    for (std::size_t i = 0; i < with.size(); ++i) {
      CAPTURE(i);
      const Tensor expected = without[i].detach();
      CHECK(with[i].detach().isfinite().all());
      CHECK((with[i].detach() - expected).abs().max().item() <= 1e-11 * (1 + expected.abs().max().item()));
    }
  }
  CHECK(live_nodes() == nodes);
}

TEST_CASE("checkpoint: a gradient penalty trains the parameters its function uses") {
  const nn::Linear fc(4, 3);
  const Tensor x = leaf({5, 4});
  const auto f = [fc](const Tensor& a) { return fc(a).tanh(); };
  const auto train = [&](bool on) {
    fc.zero_grad();
    const Tensor loss = (on ? checkpoint(f, x) : f(x)).square().sum();
    const Tensor g = grad(loss, {x}, {.create_graph = true})[0];
    (loss + (g.norm() - 1.0).square()).backward();
    return std::vector<Tensor>{fc.weight.grad().clone(), fc.bias.grad().clone()};
  };
  const auto with = train(true), without = train(false);
  for (std::size_t i = 0; i < with.size(); ++i) CHECK(allclose(with[i], without[i], 1e-4, 1e-5));
}

TEST_CASE("checkpoint: inputs of any number, unused, undefined or frozen") {
  const Tensor x = leaf({3}), unused = leaf({3}), constant = randn({3});
  const auto f = [](std::span<const Tensor> in) { return in[0] * in[2] + in[0]; };
  checkpoint(f, {x, unused, constant, Tensor()}).sum().backward();
  CHECK(x.grad().defined());
  CHECK_FALSE(unused.grad().defined());
  CHECK_FALSE(constant.grad().defined());
  CHECK(checkpoint([x] { return x * 2.0; }).requires_grad());

  // An input that is only returned needs no node.
  CHECK(checkpoint([](const Tensor& a) { return a; }, x).node() == x.node());
  CHECK(checkpoint([unused](const Tensor&) { return unused; }, x).node() == unused.node());
}

TEST_CASE("checkpoint: NoGrad, retain_graph, a second backward") {
  const Tensor x = leaf({5});
  const auto f = [](const Tensor& a) { return a.exp().square(); };
  {
    const NoGrad guard;
    CHECK_FALSE(checkpoint(f, x).requires_grad());
  }
  const Tensor y = checkpoint(f, x).sum();
  y.backward(/*retain_graph=*/true);
  const Values once = gradient(x);
  {
    const NoGrad guard;  // has nothing to do with running f again
    y.backward();
  }
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(gradient(x)[i] == 2 * once[i]);
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("was already passed by a backward"), Error);
}

TEST_CASE("checkpoint uses the same random numbers and restores the generator") {
  const Tensor x = leaf({1000});
  manual_seed(5);
  const Tensor y = checkpoint([](const Tensor& a) { return dropout(a, 0.5, true); }, x);
  const Generator::State after = default_generator().state();
  const Tensor later = rand({4});
  y.sum().backward();
  for (std::size_t i = 0; i < 1000; ++i) CHECK((gradient(x)[i] != 0) == (y.to_vector<double>()[i] != 0));
  default_generator().set_state(after);
  CHECK(same_bits(later, rand({4})));
}

TEST_CASE("checkpoint saves only its inputs, and frees everything") {
  const Tensor x = leaf({256, 1024});  // 1 MiB
  constexpr std::int64_t kMiB = 1 << 20;
  const auto deep = [](const Tensor& a) {
    Tensor h = a;
    for (int i = 0; i < 10; ++i) h = h.tanh();
    return h;
  };
  const std::int64_t before = memory_stats().live_bytes, nodes = live_nodes();
  {
    const Tensor y = deep(x);
    CHECK(memory_stats().live_bytes - before == 10 * kMiB);
  }
  {
    Tensor y = checkpoint(deep, x * 2.0);
    CHECK(memory_stats().live_bytes - before == 2 * kMiB);  // its input and its output
    CHECK(live_nodes() - nodes == 2);
    y.sum().backward();
    CHECK(memory_stats().live_bytes - before == 2 * kMiB);  // y, and x's gradient
  }
  x.zero_grad();
  CHECK(memory_stats().live_bytes == before);
  CHECK(live_nodes() == nodes);
}

TEST_CASE("checkpoint: errors") {
  const Tensor x = leaf({2, 3});
  check_error([&] { checkpoint(CheckpointFunction(), {x}); },
              "checkpoint: expects a function, got an empty one");
  check_error([&] { checkpoint([](const Tensor&) { return Tensor(); }, x); },
              "checkpoint: the function returned an undefined tensor");

  const auto backward_error = [](const Tensor& y, const std::string& message) {
    const std::int64_t nodes = live_nodes();
    check_error([&] { y.sum().backward(); }, message);
    CHECK(live_nodes() <= nodes);
  };
  const Tensor input = leaf({2, 3});
  Tensor y = checkpoint([](const Tensor& a) { return a.exp(); }, input);
  {
    const NoGrad guard;
    input.fill_(2);
  }
  backward_error(y,
                 "checkpoint backward: the f32 [2, 3] it saved was changed in place after the forward pass: "
                 "change it before the forward pass or after backward, or work on a clone()");

  int calls = 0;
  y = checkpoint([&calls](const Tensor& a) { return ++calls == 1 ? a.exp() : a.exp().sum(); }, x);
  backward_error(y,
                 "checkpoint backward: the function returned f32 [2, 3] in the forward pass and now f32 []: "
                 "it must compute the same again");
  calls = 0;
  y = checkpoint([&calls](const Tensor& a) { return ++calls == 1 ? a.exp() : Tensor(); }, x);
  backward_error(y,
                 "checkpoint backward: the function returned f32 [2, 3] in the forward pass and now no "
                 "tensor: it must compute the same again");

  const nn::Dropout drop(0.5);
  y = checkpoint([drop](const Tensor& a) { return drop(a.exp()); }, x);
  drop.eval();
  backward_error(y,
                 "checkpoint backward: the function did not draw the random numbers of the forward pass "
                 "again: was train() or eval() called in between?");

  const Tensor scale = ones({3});
  y = checkpoint([scale](const Tensor& a) { return a * scale; }, x);
  scale.fill_(2);
  const std::string other =
      "checkpoint backward: the function computed another f32 [2, 3] than in the forward pass: what it uses "
      "besides its inputs (parameters, modes, captured tensors, a generator, the instruction set and "
      "backend of products) must be as it was";
  backward_error(y, other);
  // Handing its input on, the function leaves nothing that a pass could go through.
  const auto first = std::make_shared<bool>(true);
  y = checkpoint([first](const Tensor& a) { return std::exchange(*first, false) ? a * 1.0 : a; }, x * 2);
  backward_error(y, other);
  const nn::Linear fc = nn::Module("Model").add("fc", nn::Linear(3, 3));
  y = checkpoint([fc](const Tensor& a) { return fc(a); }, x);
  {
    const NoGrad guard;
    fc.weight.fill_(1);
  }
  backward_error(y, other);
  CHECK_FALSE(fc.weight.grad().defined());
  y = checkpoint([fc](const Tensor& a) { return fc(a); }, ones({2, 3}));
  fc.requires_grad_(false);
  backward_error(y,
                 "checkpoint backward: the function's result no longer requires grad: was a parameter frozen "
                 "since the forward pass?");

  const Tensor old = leaf({2, 3});
  const Tensor twice = old * 2.0, same = (twice * 1.0).detach();
  calls = 0;
  y = checkpoint([&calls, twice, same](const Tensor& a) { return a + (++calls == 1 ? same : twice); }, x);
  backward_error(y, "checkpoint backward: mul [2, 3] was used that was not in the forward pass");
  CHECK_FALSE(old.grad().defined());
  twice.sum().backward();  // its tape is whole
  CHECK(old.grad().defined());
}

TEST_CASE("checkpoint: errors inside name the module, and a failed pass leaks nothing") {
  const nn::Linear fc = nn::Module("Model").add("fc", nn::Linear(3, 3));
  const Tensor x = leaf({2, 3});
  int calls = 0;
  const auto failing = [&calls, fc](const Tensor& a) {
    const Tensor h = fc(a);
    const Scope scope(intern("decoder"));
    if (++calls == 2) return h + zeros({5});
    return h;
  };
  {
    const Tensor y = checkpoint(failing, x);
    CHECK_THROWS_WITH_AS(y.sum().backward(), doctest::Contains("(in decoder)"), Error);
  }
  CHECK_FALSE(fc.weight.grad().defined());
  fc(x).sum().backward();
  const Values expected = gradient(x);
  x.zero_grad();
  checkpoint(failing, x).sum().backward();
  CHECK(gradient(x) == expected);

  const Scope scope(intern("encoder"));
  CHECK(explain(checkpoint([](const Tensor& a) { return a.exp(); }, x)).find("checkpoint") == 5 + 1);
}
