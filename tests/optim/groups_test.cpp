// Rates set and groups added during training.

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/ema.h"
#include "gradus/optim/radam.h"
#include "gradus/optim/rmsprop.h"
#include "gradus/optim/sgd.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

Tensor weight_of(double value) { return full({1}, value, f64).requires_grad_(); }

void step_with(optim::Optimizer& opt, const std::vector<Tensor>& weights, double gradient) {
  for (const Tensor& w : weights) w.set_grad(full({1}, gradient, f64));
  opt.step();
}

}  // namespace

TEST_CASE("set_lr: takes effect from the next update on, for all groups or one") {
  const Tensor a = weight_of(0), b = weight_of(0);
  optim::SGD opt({{.parameters = {a}}, {.parameters = {b}, .lr = 0.5}}, {.lr = 0.1});
  step_with(opt, {a, b}, 1);
  CHECK(a.item() == -0.1);
  CHECK(b.item() == -0.5);
  opt.set_lr(1);
  CHECK(opt.lr(0) == 1);
  CHECK(opt.lr(1) == 1);
  opt.set_lr(2.0, 1);
  step_with(opt, {a, b}, 1);
  CHECK(a.item() == -1.1);
  CHECK(b.item() == -2.5);
  opt.set_lr([](std::int64_t step) { return static_cast<double>(step); }, 0);
  CHECK(opt.lr(0) == 3);  // steps count on
  CHECK(opt.schedule(0)(7) == 7);
  CHECK(opt.groups() == 2);
}

TEST_CASE("add_group: the new parameters' steps count from 1, unset settings are the optimizer's") {
  const Tensor a = weight_of(1), b = weight_of(1), c = weight_of(1), alone = weight_of(1);
  optim::Adam opt({a}, {.lr = 0.1, .weight_decay = 0.5}), other({alone}, {.lr = 0.1, .weight_decay = 0.5});
  for (int i = 0; i < 3; ++i) step_with(opt, {a}, 2);
  opt.add_group({.parameters = {b}});
  opt.add_group({.parameters = {c}, .lr = 0.0});
  step_with(opt, {a, b, c}, 2);
  step_with(other, {alone}, 2);
  CHECK(b.item() == alone.item());
  CHECK(c.item() == 1);
  CHECK(opt.state_dict().at("1.step").item() == 1);
  opt.set_lr(0.25);
  const Tensor d = weight_of(0);
  opt.add_group({.parameters = {d}});
  CHECK(opt.lr(3) == 0.25);
}

TEST_CASE("add_group: a schedule gets the optimizer's step, and can be shifted") {
  const Tensor a = weight_of(1), b = weight_of(1), c = weight_of(1);
  optim::SGD opt({a}, {.lr = 0.1});
  for (int i = 0; i < 100; ++i) step_with(opt, {a}, 0);
  const optim::Schedule warmup = optim::warmup_linear(1, 50);
  opt.add_group({.parameters = {b}, .lr = warmup});
  opt.add_group({.parameters = {c}, .lr = [warmup](std::int64_t step) { return warmup(step - 100); }});
  CHECK(opt.lr(1) == 1);
  CHECK(opt.lr(2) == 1.0 / 50);
}

TEST_CASE("add_group: the group's state is saved and restored") {
  const auto make = [](const Tensor& a, const Tensor& b) {
    auto opt = std::make_unique<optim::RAdam>(std::vector<Tensor>{a}, optim::RAdamOptions{.lr = 0.1});
    opt->add_group({.parameters = {b}, .lr = 0.2});
    return opt;
  };
  const Tensor a = weight_of(1), b = weight_of(2);
  const auto opt = make(a, b);
  for (int i = 0; i < 8; ++i) step_with(*opt, {a, b}, i - 2);
  const Tensor a2 = weight_of(a.item()), b2 = weight_of(b.item());
  const auto again = make(a2, b2);
  again->load_state_dict(opt->state_dict());
  step_with(*opt, {a, b}, 3);
  step_with(*again, {a2, b2}, 3);
  CHECK(a2.item() == a.item());
  CHECK(b2.item() == b.item());
  optim::RAdam without({a2}, {.lr = 0.1});
  check_error([&] { without.load_state_dict(opt->state_dict()); },
              "RAdam: the state has 7 entries, expects 4: it belongs to another optimizer");
  check_error(
      [&] { again->load_state_dict(without.state_dict()); },
      "RAdam: the state has no step of parameter 1 [1]: it belongs to another optimizer or to a model");
}

TEST_CASE("set_lr and add_group: errors change nothing") {
  const nn::Module net("Net");
  const nn::Linear fc = net.add("fc", nn::Linear(2, 3));
  const Tensor a = weight_of(1), b = weight_of(1);
  optim::SGD opt({a}, {.lr = 0.1, .momentum = 0.9});
  check_error([&] { opt.set_lr(-1); }, "SGD: expects a learning rate of 0 or more, got -1");
  check_error([&] { opt.set_lr(0.1, 1); }, "SGD: group 1 does not exist: there are 1");
  check_error([&] { opt.schedule(2); }, "SGD: group 2 does not exist: there are 1");
  check_error([&] { opt.add_group({}); },
              "SGD: got no parameters: pass model.parameters(), of a model whose parts are declared as "
              "`nn::Linear fc = add(\"fc\", nn::Linear(...));`");
  check_error([&] { opt.add_group({.parameters = {b, a}}); }, "SGD: parameter 2 [1] is given twice");
  check_error(
      [&] {
        opt.add_group({.parameters = {fc.weight, fc.weight}});
      },
      "SGD: fc.weight [3, 2] is given twice");
  check_error([&] { opt.add_group({.parameters = {b}, .weight_decay = -1.0}); },
              "SGD: expects a weight_decay of 0 or more, got -1");
  check_error([&] { opt.add_group({.parameters = {b}, .lr = NAN}); },
              "SGD: expects a learning rate of 0 or more, got nan");
  CHECK(opt.lr() == 0.1);
  CHECK(opt.groups() == 1);
  CHECK(opt.state_dict().size() == 2);
  opt.add_group({.parameters = {b}});
  step_with(opt, {a, b}, 1);
  CHECK(b.item() == 0.9);
}

TEST_CASE("RMSprop, RAdam: errors, and an element that never had a gradient") {
  const Tensor w = weight_of(1);
  check_error([&] { optim::RMSprop({w}, {.alpha = 1}); }, "RMSprop: expects an alpha in [0, 1), got 1");
  check_error([&] { optim::RMSprop({w}, {.momentum = -0.5}); },
              "RMSprop: expects a momentum of 0 or more, got -0.5");
  check_error([&] { optim::RMSprop({w}, {.eps = 0}); },
              "RMSprop: expects an eps of 1.2e-38 or more, else an element that never had a gradient is "
              "divided by 0, got 0");
  check_error(
      [&] {
        optim::RAdam({w}, {.betas = {1, 0.9}});
      },
      "RAdam: expects betas in [0, 1), got 1 and 0.9");
  check_error([&] { optim::RAdam({w}, {.lr = -1}); }, "RAdam: expects a learning rate of 0 or more, got -1");
  for (const DType dtype : {f32, f64}) {
    const Tensor idle = ones({40}, dtype).requires_grad_();
    optim::RAdam radam({idle}, {.eps = 2e-38});
    optim::RMSprop rmsprop({idle}, {.eps = 2e-38, .momentum = 0.9, .centered = true});
    for (int i = 0; i < 9; ++i) {
      idle.set_grad(zeros({40}, dtype));
      radam.step();
      rmsprop.step();
    }
    CHECK((idle.detach() == 1).all());
  }
}

TEST_CASE("RMSprop, RAdam, clip_grad_value, EMA: the same bits for any number of threads") {
  const auto train = [](int threads) {
    const ThreadsGuard guard(threads);
    manual_seed(3);
    const Tensor a = randn({300, 200}).requires_grad_(), b = randn({70000}).requires_grad_();
    optim::RMSprop rmsprop({a, b}, {.momentum = 0.9, .centered = true});
    optim::RAdam radam({a, b}, {.weight_decay = 0.1});
    optim::EMA ema({a, b}, 0.9);
    for (int i = 0; i < 8; ++i) {
      a.set_grad(randn({300, 200}));
      b.set_grad(randn({70000}));
      optim::clip_grad_value({a, b}, 0.8);
      rmsprop.step();
      radam.step();
      ema.update();
    }
    const optim::EMA::Use use(ema);
    std::vector<float> bits = a.to_vector<float>();
    const std::vector<float> more = b.to_vector<float>();
    bits.insert(bits.end(), more.begin(), more.end());
    return bits;
  };
  const std::vector<float> alone = train(1);
  for (const int threads : {2, 3, 8}) CHECK(train(threads) == alone);
}

TEST_CASE("clip_grad_value: any layout, each gradient once, errors") {
  const Tensor w = zeros({2, 3}).requires_grad_(), none = zeros({2}).requires_grad_();
  w.set_grad(tensor({{5.0, -5.0}, {0.5, -0.5}, {1.0, -1.0}}).t());
  const std::uint32_t version = w.grad().array().storage().version();
  optim::clip_grad_value({w, none, w}, 1);
  CHECK(w.grad().to_vector<float>() == std::vector<float>{1, 0.5, 1, -1, -0.5, -1});
  CHECK(w.grad().array().storage().version() != version);
  w.set_grad(full({2, 3}, -INFINITY, f32));
  optim::clip_grad_value({w}, 2);
  CHECK((w.grad() == -2).all());
  check_error([&] { optim::clip_grad_value({w}, 0); },
              "clip_grad_value: expects a clip_value above 0, got 0");
  check_error([&] { optim::clip_grad_value({w}, NAN); },
              "clip_grad_value: expects a clip_value above 0, got nan");
  check_error([&] { optim::clip_grad_value({Tensor()}, 1); },
              "clip_grad_value: parameter 0 is an undefined tensor");
}

}  // namespace gradus::test
