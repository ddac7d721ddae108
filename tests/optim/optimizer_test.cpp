// Common behavior of all optimizers. Their values are compared with PyTorch's in tests/golden/optim_test.cpp.

#include "gradus/optim/optimizer.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/radam.h"
#include "gradus/optim/rmsprop.h"
#include "gradus/optim/sgd.h"
#include "near.h"

namespace gradus::test {
namespace {

using optim::Adam;
using optim::AdamW;
using optim::SGD;

Tensor leaf(const Tensor& values) {
  Tensor x = values.clone();
  return x.requires_grad_();
}

/// Several steps on |w|^2 / 2, whose gradient is w.
void descend(optim::Optimizer& opt, const Tensor& w, int steps) {
  for (int i = 0; i < steps; ++i) {
    opt.zero_grad();
    (w.square().sum() * 0.5).backward();
    opt.step();
  }
}

const std::vector<std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>> kMakers = {
    [](auto p) { return std::make_unique<SGD>(p, optim::SGDOptions{.lr = 0.05, .momentum = 0.9}); },
    [](auto p) { return std::make_unique<Adam>(p, optim::AdamOptions{.lr = optim::warmup_linear(0.05, 4)}); },
    [](auto p) { return std::make_unique<AdamW>(p, optim::AdamWOptions{.lr = 0.05}); },
    [](auto p) { return std::make_unique<optim::RAdam>(p, optim::RAdamOptions{.lr = 0.05}); },
    [](auto p) {
      return std::make_unique<optim::RMSprop>(
          p, optim::RMSpropOptions{.lr = optim::inverse_sqrt(0.01, 4), .momentum = 0.9, .centered = true});
    },
};

}  // namespace

TEST_CASE("optimizers: averages of gradients that have become 0 are 0 or normal numbers") {
  for (const DType dtype : {f32, f64})
    for (const auto& make : kMakers) {
      const Tensor w = leaf(tensor({1e-3, -2.0, 0.5}).to(dtype));
      const auto opt = make({w});
      descend(*opt, w, 10);
      // In f32 0.9^1000 is denormal; in f64 0.9^7000 is.
      for (int i = 0; i < (dtype == f32 ? 1000 : 7000); ++i) {
        opt->zero_grad();
        (w * 0.0).sum().backward();
        opt->step();
      }
      const double normal = dtype == f32 ? 0x1p-126 : 0x1p-1022;
      const StateDict dict = opt->state_dict();
      for (const auto& entry : dict)
        if (entry.second.dtype() == dtype)
          for (const double x : entry.second.to_vector<double>())
            CHECK_MESSAGE((x == 0 || std::abs(x) >= normal), entry.first, " is ", x);
    }
}

TEST_CASE("optimizers: tiny gradients that are not 0 move a weight as in f64, if eps is as small") {
  const auto moved = [](DType dtype, const auto& make, const std::vector<double>& gradients) {
    const Tensor w = leaf(zeros({1}, dtype));
    const auto opt = make({w});
    for (const double g : gradients) {
      w.set_grad(full({1}, g, dtype));
      opt->step();
    }
    return w.item();
  };
  const auto as_in_f64 = [&](const auto& make, const std::vector<double>& gradients) {
    CHECK(moved(f64, make, gradients) != 0);
    CHECK(moved(f32, make, gradients) == doctest::Approx(moved(f64, make, gradients)).epsilon(1e-3));
  };
  as_in_f64(
      [](std::vector<Tensor> p) {
        return std::make_unique<Adam>(p, optim::AdamOptions{.lr = 1, .eps = 1e-30});
      },
      {1e-37, 1e-37, 1e-37});
  as_in_f64(
      [](std::vector<Tensor> p) {
        return std::make_unique<Adam>(p, optim::AdamOptions{.lr = 0.1, .betas = {0, 0.9}, .eps = 1e-30});
      },
      {2e-19, 0, 1e-20});
  as_in_f64(
      [](std::vector<Tensor> p) {
        return std::make_unique<optim::RMSprop>(p,
                                                optim::RMSpropOptions{.lr = 0.1, .alpha = 0.9, .eps = 1e-30});
      },
      {2e-19, 0, 1e-20});
  as_in_f64(
      [](std::vector<Tensor> p) {
        return std::make_unique<SGD>(p, optim::SGDOptions{.lr = 1e36, .momentum = 0.9});
      },
      {1e-38, 1e-38});
  as_in_f64(
      [](std::vector<Tensor> p) {
        return std::make_unique<optim::RMSprop>(p,
                                                optim::RMSpropOptions{.lr = 1e36, .eps = 1, .momentum = 0.9});
      },
      {1e-38, 1e-38});
}

TEST_CASE("optimizers: find the minimum of a quadratic function") {
  for (const auto& make : kMakers) {
    const Tensor w = leaf(tensor({1.0, -2.0, 0.5}));
    descend(*make({w}), w, 400);
    CHECK(w.array().to(f64).at({1}) == doctest::Approx(0).epsilon(1e-2));
    CHECK(w.norm().item() < 0.05);
  }
}

TEST_CASE("optimizers: SGD without momentum is w - lr g, decay is added to the gradient") {
  const Tensor w = leaf(tensor({2.0, -4.0}));
  SGD opt({w}, {.lr = 0.1, .weight_decay = 0.5});
  w.set_grad(tensor({1.0, 1.0}));
  opt.step();
  CHECK(w.span<float>()[0] == doctest::Approx(2 - 0.1 * (1 + 0.5 * 2)));
  CHECK(w.span<float>()[1] == doctest::Approx(-4 - 0.1 * (1 - 0.5 * 4)));
}

TEST_CASE("optimizers: Adam's first step is lr, whatever the gradient's size") {
  const Tensor w = leaf(zeros({3}, f64));
  Adam opt({w}, {.lr = 0.01});
  w.set_grad(tensor({1e-3, -5.0, 4e4}, f64));
  opt.step();
  CHECK(w.span<double>()[0] == test::near(-0.01, 1e-4));
  CHECK(w.span<double>()[1] == test::near(0.01, 1e-4));
  CHECK(w.span<double>()[2] == test::near(-0.01, 1e-4));
}

TEST_CASE("optimizers: a saved and restored state continues bit for bit") {
  for (const auto& make : kMakers) {
    const Tensor unbroken = leaf(tensor({1.0, -2.0, 0.5}));
    const auto opt = make({unbroken});
    descend(*opt, unbroken, 7);
    const StateDict state = opt->state_dict();
    const Tensor resumed = leaf(unbroken.detach());
    descend(*opt, unbroken, 9);

    const auto other = make({resumed});
    other->load_state_dict(state);
    CHECK(other->steps() == 7);
    descend(*other, resumed, 9);
    CHECK(resumed.to_vector<float>() == unbroken.to_vector<float>());
  }
}

TEST_CASE("optimizers: a state that does not fit changes nothing") {
  const Tensor w = leaf(ones({2})), other = leaf(ones({3}));
  Adam opt({w}), three({other});
  descend(opt, w, 1);
  descend(three, other, 2);
  check_error([&] { opt.load_state_dict(three.state_dict()); },
              "Adam: the exp_avg of parameter 0 [2] is f32 [3] in the state, expects f32 [2]");
  CHECK(opt.steps() == 1);
  check_error([&] { opt.load_state_dict({}); },
              "Adam: the state has no steps: it belongs to another optimizer or to a model");
  StateDict more = opt.state_dict();
  more.set("extra", w.detach());
  check_error([&] { opt.load_state_dict(more); },
              "Adam: the state has 5 entries, expects 4: it belongs to another optimizer");
}

TEST_CASE("optimizers: groups have their own rates and decay") {
  const Tensor a = leaf(ones({1}, f64)), b = leaf(ones({1}, f64));
  SGD opt({{.parameters = {a}}, {.parameters = {b}, .lr = 0.5, .weight_decay = 0.0}},
          {.lr = 0.1, .weight_decay = 1});
  a.set_grad(zeros({1}, f64));
  b.set_grad(ones({1}, f64));
  CHECK(opt.lr(0) == 0.1);
  CHECK(opt.lr(1) == 0.5);
  opt.step();
  CHECK(a.item() == doctest::Approx(0.9));  // decay only
  CHECK(b.item() == doctest::Approx(0.5));  // gradient only
}

TEST_CASE("optimizers: a schedule is called with the number of the next step, from 1") {
  const Tensor w = leaf(ones({1}));
  std::vector<std::int64_t> asked;
  SGD opt({w}, {.lr = [&](std::int64_t step) {
            asked.push_back(step);
            return 0.1;
          }});
  for (int i = 0; i < 3; ++i) {
    w.set_grad(ones({1}));
    opt.step();
  }
  CHECK(asked == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("optimizers: parameters without a gradient and frozen ones do not change") {
  Tensor idle = leaf(ones({2})), frozen = leaf(ones({2})), active = leaf(ones({2}));
  Adam opt({idle, frozen, active}, {.lr = 0.1});
  frozen.set_grad(ones({2}));
  frozen.requires_grad_(false);
  active.set_grad(ones({2}));
  opt.step();
  CHECK(idle.span<float>()[0] == 1);
  CHECK(frozen.span<float>()[0] == 1);
  CHECK(active.span<float>()[0] < 1);
}

TEST_CASE("optimizers: zero_grad drops the gradients") {
  const Tensor w = leaf(ones({2}));
  SGD opt({w});
  w.set_grad(ones({2}));
  opt.zero_grad();
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("optimizers: an update between forward and backward is detected") {
  const Tensor w = leaf(ones({2}));
  SGD opt({w}, {.lr = 0.1});
  const Tensor loss = (w * w).sum();
  w.set_grad(ones({2}));
  opt.step();
  CHECK_THROWS_WITH_AS(
      loss.backward(),
      "mul backward: the f32 [2] it saved was changed in place after the forward pass: change it "
      "before the forward pass or after backward, or work on a clone()",
      Error);
}

TEST_CASE("optimizers: a module that was never added is detected") {
  struct Net : nn::Module {
    nn::Linear first = add("first", nn::Linear(2, 3));
    nn::Linear second = nn::Linear(3, 1);  // the bug
    Tensor operator()(const Tensor& x) const { return second(relu(first(x))); }
  };
  const Net net;
  Adam opt(net.parameters());
  net(randn({4, 2})).sum().backward();
  check_error([&] { opt.step(); },
              "Adam: Linear.weight [1, 3] received a gradient but is in no optimizer: its module was never "
              "added (declare it as `nn::Linear fc = add(\"fc\", nn::Linear(...));`) or added after the "
              "optimizer was made; freeze a parameter that should not be trained with requires_grad_(false)");
}

TEST_CASE("optimizers: errors") {
  const Tensor w = leaf(ones({2}));
  check_error([] { Adam(std::vector<Tensor>{}); },
              "Adam: got no parameters: pass model.parameters(), of a model whose parts are declared as "
              "`nn::Linear fc = add(\"fc\", nn::Linear(...));`");
  check_error([] { Adam({ones({2})}); },
              "Adam: parameter 0 [2] does not require grad: call requires_grad_() on it before it is used");
  check_error([&] { Adam({w * 2.0}); },
              "Adam: parameter 0 [2] is the output of mul, not a leaf: pass the leaf it was computed from");
  check_error([&] { Adam({w, Tensor()}); }, "Adam: parameter 1 is an undefined tensor");
  check_error(
      [&] {
        Adam({leaf(ones({2, 3})), leaf(ones({2, 3})).detach().t().requires_grad_()});
      },
      "Adam: parameter 1 [3, 2] is not contiguous: create it with contiguous()");
  check_error([&] { SGD({w, w}); }, "SGD: parameter 1 [2] is given twice");
  const nn::Module net("Net");
  const nn::Linear fc = net.add("fc", nn::Linear(2, 3));
  check_error([&] { SGD({fc.bias, fc.weight, fc.bias}); }, "SGD: fc.bias [3] is given twice");
  check_error([&] { Adam({w}, {.betas = {0.9, 1.0}}); }, "Adam: expects betas in [0, 1), got 0.9 and 1");
  check_error(
      [&] { AdamW({w}, {.eps = -1}); },
      "AdamW: expects an eps of 1.2e-38 or more, else an element that never had a gradient is divided by "
      "0, got -1");
  check_error(
      [&] { Adam({w}, {.eps = 0}); },
      "Adam: expects an eps of 1.2e-38 or more, else an element that never had a gradient is divided by 0, "
      "got 0");
  check_error([&] { Adam({w}, {.lr = -1}); }, "Adam: expects a learning rate of 0 or more, got -1");
  check_error([&] { SGD({w}, {.lr = NAN}); }, "SGD: expects a learning rate of 0 or more, got nan");
  check_error([&] { AdamW({{.parameters = {w}, .lr = -0.5}}); },
              "AdamW: expects a learning rate of 0 or more, got -0.5");
  check_error([&] { AdamW({w}, {.weight_decay = -0.1}); },
              "AdamW: expects a weight_decay of 0 or more, got -0.1");
  check_error([&] { AdamW({w}, {.weight_decay = INFINITY}); },
              "AdamW: expects a weight_decay of 0 or more, got inf");
  check_error([&] { SGD({w}, {.momentum = 0.9, .dampening = 2}); },
              "SGD: expects a dampening from 0 to 1, got 2");
  check_error([&] { SGD({w}, {.momentum = -1}); }, "SGD: expects a momentum of 0 or more, got -1");
  check_error([&] { SGD({w}, {.nesterov = true}); },
              "SGD: Nesterov needs a momentum above 0 and no dampening, got momentum 0 and dampening 0");
  check_error([&] { SGD({w}).lr(1); }, "SGD: group 1 does not exist: there are 1");
  const auto broken = [&] {
    SGD opt({w}, {.lr = [](std::int64_t) { return NAN; }});
    w.set_grad(ones({2}));
    opt.step();
  };
  check_error(broken, "SGD: the schedule returned a rate of nan at step 1");
  check_error([&] { optim::clip_grad_norm({w}, 0); }, "clip_grad_norm: expects a max_norm above 0, got 0");
}

TEST_CASE("optimizers: a step without a gradient is a mistake in the order of calls") {
  const Tensor w = leaf(ones({2}));
  Adam opt({w});
  const std::string message =
      "Adam: no parameter has a gradient: call backward() before step(), and zero_grad() before backward()";
  check_error([&] { opt.step(); }, message);
  w.square().sum().backward();
  opt.zero_grad();
  check_error([&] { opt.step(); }, message);
  CHECK(opt.steps() == 0);
}

TEST_CASE("optimizers: a step where every parameter is frozen is a mistake, with gradients or without") {
  Tensor w = leaf(ones({2}));
  SGD opt({w});
  w.set_grad(ones({2}));
  w.requires_grad_(false);
  const std::string message =
      "SGD: every parameter is frozen: call requires_grad_() on those to be trained, or leave step() out";
  check_error([&] { opt.step(); }, message);
  opt.zero_grad();
  check_error([&] { opt.step(); }, message);
  CHECK(opt.steps() == 0);
  CHECK(w.span<float>()[0] == 1);
}

TEST_CASE("optimizers: a step that fails is not counted") {
  const Tensor a = leaf(ones({1}, f64)), b = leaf(ones({1}, f64)), c = leaf(ones({1}, f64));
  bool broken = true;
  const optim::Schedule sometimes = [&](std::int64_t) { return broken ? NAN : 0.1; };
  Adam opt({{.parameters = {a}}, {.parameters = {b}, .lr = sometimes}}, {.lr = 0.1}), whole({c}, {.lr = 0.1});
  for (const Tensor& w : {a, b, c}) w.set_grad(full({1}, 3, f64));
  check_error([&] { opt.step(); }, "Adam: the schedule returned a rate of nan at step 1");
  CHECK(a.item() == 1);
  broken = false;
  opt.step();
  whole.step();
  CHECK(a.item() == c.item());
  CHECK(b.item() == c.item());
  CHECK(opt.state_dict().at("0.step").item() == 1);
}

TEST_CASE("optimizers: a schedule is called once per step, also for many parameters") {
  const Tensor a = leaf(ones({1})), b = leaf(ones({1}));
  int asked = 0;
  SGD opt({a, b}, {.lr = [&](std::int64_t) { return 0.1 * ++asked; }});
  a.set_grad(ones({1}));
  b.set_grad(ones({1}));
  opt.step();
  CHECK(asked == 1);
  CHECK(a.item() == b.item());
}

TEST_CASE("optimizers: messages name a module's parameters by their path") {
  const nn::Module net("Net");
  const nn::Linear fc = net.add("fc", nn::Linear(2, 3, {.bias = false}));
  fc(ones({1, 2})).sum().backward();
  Adam opt(net.parameters());
  SGD other(net.parameters(), {.momentum = 0.9});
  opt.step();
  other.step();
  StateDict state = opt.state_dict();
  state.set("0.exp_avg", zeros({2, 3}));
  check_error([&] { opt.load_state_dict(state); },
              "Adam: the exp_avg of fc.weight [3, 2] is f32 [2, 3] in the state, expects f32 [3, 2]");
  check_error([&] { opt.load_state_dict(other.state_dict()); },
              "Adam: the state has no exp_avg of fc.weight [3, 2]: it belongs to another optimizer");
  check_error([&] { opt.load_state_dict(net.state_dict()); },
              "Adam: the state has no steps: it belongs to another optimizer or to a model");
  for (const Tensor& bad : {tensor(-1), tensor({1, 2}), tensor(1.5), Tensor()}) {
    state.set("0.step", bad);
    check_error([&] { opt.load_state_dict(state); },
                "Adam: expects step of fc.weight [3, 2] to be one i64 of 0 or more");
  }
}

TEST_CASE("optimizers: Adam does not change elements that never had a gradient, also with the smallest eps") {
  for (const DType dtype : {f32, f64}) {
    const Tensor w = leaf(ones({40}, dtype));
    Adam opt({w}, {.eps = 2e-38});
    w.set_grad(zeros({40}, dtype));
    opt.step();
    CHECK((w.detach() == 1).all());
  }
}

TEST_CASE("clip_grad_norm: a parameter that is given twice counts once") {
  const Tensor w = leaf(zeros({2}));
  w.set_grad(tensor({3.0, 4.0}));
  CHECK(optim::grad_norm({w, w}) == doctest::Approx(5));
  CHECK(optim::clip_grad_norm({w, w}, 1) == doctest::Approx(5));
  CHECK(optim::grad_norm({w}) == doctest::Approx(1));
  check_error(
      [&] {
        optim::clip_grad_norm({w, Tensor()}, 1);
      },
      "clip_grad_norm: parameter 1 is an undefined tensor");
}

TEST_CASE("clip_grad_norm: does not change small gradients, reports those that are not finite") {
  const Tensor w = leaf(zeros({2}));
  CHECK(optim::clip_grad_norm({}, 1) == 0);
  check_error([&] { optim::clip_grad_norm({w}, 1); },
              "clip_grad_norm: no parameter has a gradient: call it after backward(); gradients that "
              "DataParallel shards are clipped by Sharded's clip_grad_norm()");
  w.set_grad(tensor({0.3, 0.4}));
  CHECK(optim::clip_grad_norm({w}, 1) == doctest::Approx(0.5));
  CHECK(w.grad().to_vector<float>()[0] == 0.3f);
  w.set_grad(tensor({3.0, 4.0}));
  CHECK(optim::clip_grad_norm({w}, 1) == doctest::Approx(5));
  CHECK(optim::grad_norm({w}) == doctest::Approx(1));
  w.set_grad(tensor({3.0, INFINITY}));
  CHECK(std::isinf(optim::clip_grad_norm({w}, 1)));
  CHECK(w.grad().to_vector<float>()[0] == 3.0f);
}

TEST_CASE("grad_norm: of gradients whose squares overflow or underflow a float") {
  const Tensor w = leaf(zeros({5000}));  // a piece of 4096, and a rest
  for (const double size : {1e-42, 1e-30, 1e-22, 1e-18, 1e18, 1e20, 1e36}) {
    CAPTURE(size);
    w.set_grad(full({5000}, size));
    const double element = w.grad()[0].item();  // as a float has it
    CHECK(optim::grad_norm({w}) == doctest::Approx(element * std::sqrt(5000.0)).epsilon(1e-6));
  }
  w.set_grad(full({5000}, 1e30));
  CHECK(optim::clip_grad_norm({w}, 1) > 1e31);
  CHECK(optim::grad_norm({w}) == doctest::Approx(1).epsilon(1e-5));
  w.set_grad(full({5000}, 3e38));  // what it is multiplied by is no number of f32
  CHECK(optim::clip_grad_norm({w}, 1e-6) == test::near(3e38 * std::sqrt(5000.0)));
  CHECK(optim::grad_norm({w}) == test::near(1e-6));
}

TEST_CASE("grad_norm: of f64 gradients whose squares overflow or vanish, among f32 ones") {
  const Tensor w = leaf(zeros({5000}, f64)), other = leaf(zeros({3}));
  other.set_grad(full({3}, 2.0));
  for (const double size : {1e-300, 1e-170, 1e-160, 1e-150, 1e150, 1e160, 1e200, 1e305}) {
    CAPTURE(size);
    w.set_grad(full({5000}, size, f64));
    CHECK(optim::grad_norm({w}) == test::near(size * std::sqrt(5000.0), 1e-12));
    const double both = std::hypot(size * std::sqrt(5000.0), 2 * std::sqrt(3.0));
    CHECK(optim::grad_norm({other, w}) == test::near(both, 1e-6));
    const double norm = optim::clip_grad_norm({w}, size);
    CHECK(norm == test::near(size * std::sqrt(5000.0), 1e-12));
    if (size > 1) CHECK(optim::grad_norm({w}) == test::near(size, 1e-12));
  }
  w.set_grad(full({5000}, 1e200, f64));
  w.grad()[17].fill_(NAN);
  CHECK(std::isnan(optim::grad_norm({w})));
  w.grad()[17].fill_(-INFINITY);
  CHECK(std::isinf(optim::clip_grad_norm({w}, 1)));
  CHECK(w.grad()[0].item() == 1e200);
}

}  // namespace gradus::test
