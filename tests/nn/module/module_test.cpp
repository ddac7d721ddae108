#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <thread>

#include "gradus/nn/module/module.h"

#include "check_op.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/layers/linear.h"

using namespace gradus;
using test::check_error;

namespace {

struct Scale : nn::Module {
  nn::Parameter weight = parameter("weight", ones({3}));
  nn::Buffer steps = buffer("steps", zeros({1}));
};

struct Pair : nn::Module {
  Scale first = add("first", Scale());
  nn::Parameter bias = parameter("bias", zeros({2}));
  nn::Linear second = add("second", nn::Linear(3, 2));
};

struct Model : nn::Module {
  std::vector<Pair> layers = add_list("layers", 2, [](int) { return Pair(); });
  Scale top = add("top", Scale());
};

std::vector<std::string> names(const std::vector<StateDict::Entry>& entries) {
  std::vector<std::string> found;
  for (const auto& [name, values] : entries) found.push_back(name);
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("module: parameters are named by their path, own ones first, in the order of registration") {
  CHECK(names(Pair().named_parameters()) == Names{"bias", "first.weight", "second.weight", "second.bias"});
  const Model model;
  CHECK(names(model.named_parameters()) ==
        Names{"layers.0.bias", "layers.0.first.weight", "layers.0.second.weight", "layers.0.second.bias",
              "layers.1.bias", "layers.1.first.weight", "layers.1.second.weight", "layers.1.second.bias",
              "top.weight"});
  CHECK(names(model.named_buffers()) == Names{"layers.0.first.steps", "layers.1.first.steps", "top.steps"});
  CHECK(model.parameters().size() == 9);
  CHECK(model.buffers().size() == 3);
  CHECK(model.num_parameters() == 2 * (2 + 3 + 6 + 2) + 3);
  for (const Tensor& w : model.parameters()) CHECK(w.requires_grad());
  for (const Tensor& b : model.buffers()) CHECK_FALSE(b.requires_grad());
}

TEST_CASE("module: paths follow when a subtree is added to a parent") {
  const Pair pair;
  CHECK(std::string(pair.path()) == "");
  CHECK(std::string(pair.second.path()) == "second");
  const nn::Module middle;
  middle.add("pair", pair);
  CHECK(std::string(pair.second.path()) == "pair.second");
  const nn::Module top;
  top.add("middle", middle);
  CHECK(std::string(pair.path()) == "middle.pair");
  CHECK(std::string(pair.second.path()) == "middle.pair.second");
}

TEST_CASE("module: kinds are given, or the type's name") {
  const Model model;
  CHECK(model.top.kind() == "Scale");
  CHECK(model.layers[0].kind() == "Pair");
  CHECK(model.layers[0].second.kind() == "Linear");
  CHECK(nn::Module("Thing").kind() == "Thing");
  CHECK(nn::Module().kind() == "Module");
}

TEST_CASE("module: named_modules and children") {
  const Pair pair;
  Names all, direct;
  for (const auto& [name, module] : pair.named_modules()) all.push_back(name + ":" + module.kind());
  CHECK(all == Names{":Module", "first:Scale", "second:Linear"});
  for (const auto& [name, module] : Model().children()) direct.push_back(name + ":" + module.kind());
  CHECK(direct == Names{"layers:List", "top:Scale"});
  CHECK(pair.children()[1].second == pair.second);
  CHECK_FALSE(pair.children()[0].second == pair.second);
}

TEST_CASE("module: apply visits parts before their parents, and can set values") {
  const Pair pair;
  Names order;
  pair.apply([&](const nn::Module& m) { order.push_back(m.kind()); });
  CHECK(order == Names{"Scale", "Linear", "Module"});
  pair.apply([](const nn::Module& m) {
    const NoGrad guard;
    if (m.kind() == "Linear") m.parameter("weight").fill_(7);
  });
  CHECK(pair.second.weight.array().at({1, 2}) == 7);
  CHECK(pair.first.weight.array().at({0}) == 1);
}

TEST_CASE("module: a part added as \"\" has its keys at its parent's level") {
  const nn::Module block("Block");
  const Pair pair = block.add("", Pair());
  block.add("norm", Scale());
  CHECK(names(block.named_parameters()) ==
        Names{"bias", "first.weight", "second.weight", "second.bias", "norm.weight"});
  CHECK(std::string(pair.path()) == "");
  CHECK(std::string(pair.second.path()) == "second");
  Names all;
  for (const auto& [name, module] : block.named_modules()) all.push_back(name + ":" + module.kind());
  CHECK(all == Names{":Block", ":Pair", "first:Scale", "second:Linear", "norm:Scale"});
  check_error([&] { block.add("first", Scale()); }, "Block: the name 'first' is taken");
  check_error([&] { block.parameter("bias", zeros({1})); }, "Block: the name 'bias' is taken");
  check_error([&] { block.add("", Pair()); }, "Block: the name 'bias' is taken");
}

TEST_CASE("module: bad registrations") {
  const nn::Module m("Net");
  m.add("fc", Scale());
  m.parameter("w", zeros({2}));
  check_error([&] { m.add("fc", Scale()); }, "Net: the name 'fc' is taken");
  check_error([&] { m.parameter("fc", zeros({2})); }, "Net: the name 'fc' is taken");
  check_error([&] { m.buffer("w", zeros({2})); }, "Net: the name 'w' is taken");
  check_error([&] { m.add("a.b", Scale()); },
              "Net: expects a name that is not empty and has no dot, got 'a.b'");
  check_error([&] { m.parameter("", zeros({2})); },
              "Net: expects a name that is not empty and has no dot, got ''");
  check_error([&] { m.buffer("x.y", zeros({2})); },
              "Net: expects a name that is not empty and has no dot, got 'x.y'");
  check_error([&] { m.parameter("v", Tensor()); }, "Net: parameter 'v' is an undefined tensor");
  check_error([&] { m.buffer("v", Tensor()); }, "Net: buffer 'v' is an undefined tensor");
  check_error(
      [&] { m.parameter("ids", zeros({2}, i64)); },
      "Net: parameter 'ids' expects f32 or f64, got i64 [2]: convert with .to(f32), or register it with "
      "buffer()");
  check_error(
      [&] {
        m.parameter("v", zeros({2, 3}).t());
      },
      "Net: parameter 'v' [3, 2] is not contiguous: register its contiguous()");
  Tensor leaf = zeros({2});
  leaf.requires_grad_();
  check_error([&] { m.parameter("v", leaf * 2.0); },
              "Net: parameter 'v' [2] is the output of mul: register its detach()");
  check_error([&] { m.add("self", m); }, "Net: cannot add a module to itself or to one of its parts");
  const nn::Module inner("Inner");
  m.add("inner", inner);
  check_error([&] { inner.add("outer", m); }, "Inner: cannot add a module to itself or to one of its parts");
  CHECK(m.children().size() == 2);  // nothing of all this was registered
  CHECK(inner.children().empty());
}

TEST_CASE("module: a parameter by name") {
  const Pair pair;
  CHECK(pair.parameter("bias").node() == pair.bias.node());
  CHECK(pair.parameter("second.weight").node() == pair.second.weight.node());
  check_error([&] { pair.parameter("weight"); },
              "Module: no parameter 'weight': it has bias, first.weight, second.weight, second.bias");
  check_error([&] { nn::Module("ReLU").parameter("weight"); }, "ReLU: no parameter 'weight': it has none");
  CHECK(names(pair.own_parameters()) == Names{"bias"});
}

TEST_CASE("module: copies are handles to the same parameters") {
  const Pair pair;
  const Pair copy = pair;  // NOLINT
  CHECK(copy == pair);
  CHECK_FALSE(Pair() == pair);
  {
    const NoGrad guard;
    copy.bias.fill_(5);
  }
  CHECK(pair.bias.array().at({0}) == 5);
  copy.eval();
  CHECK_FALSE(pair.is_training());

  Pair source = pair;
  const Pair moved = std::move(source);
  CHECK(source == moved);  // a module that was moved from is still one  NOLINT
}

TEST_CASE("module: copy_parameters_from copies values and shares nothing") {
  const Pair a, b;
  {
    const NoGrad guard;
    a.bias.fill_(3);
  }
  b.copy_parameters_from(a);
  CHECK(b.bias.array().at({1}) == 3);
  {
    const NoGrad guard;
    a.bias.fill_(4);
  }
  CHECK(b.bias.array().at({1}) == 3);
}

TEST_CASE("module: train and eval reach every part; EvalMode covers them for a scope of this thread") {
  const Model model, other;
  CHECK(model.is_training());
  model.layers[1].first.eval();
  {
    const nn::EvalMode guard(model);
    model.apply([](const nn::Module& m) { CHECK_FALSE(m.is_training()); });
    CHECK(other.is_training());
    bool elsewhere = false;
    std::thread([&] { elsewhere = model.is_training(); }).join();
    CHECK(elsewhere);
    {
      const nn::EvalMode inner(other.layers[0]);
      CHECK_FALSE(model.is_training());
      CHECK_FALSE(other.layers[0].first.is_training());
      CHECK(other.is_training());
    }
    CHECK(other.layers[0].first.is_training());
    CHECK_FALSE(model.is_training());
  }
  CHECK(model.is_training());
  CHECK(model.layers[0].first.is_training());
  CHECK(model.layers[1].is_training());
  CHECK_FALSE(model.layers[1].first.is_training());
  model.train();
  CHECK(model.layers[1].first.is_training());
  model.eval();
  CHECK_FALSE(model.layers[0].second.is_training());
}

TEST_CASE("module: EvalMode scopes may end in another order, and keep the model") {
  const Model model;
  std::optional<nn::EvalMode> first(model), second(model);
  first.reset();
  CHECK_FALSE(model.is_training());
  second.reset();
  CHECK(model.is_training());
  const nn::EvalMode guard{Model()};
  for (int i = 0; i < 20; ++i) CHECK(Model().is_training());  // at an address the model above might have had
}

TEST_CASE("module: zero_grad and freezing") {
  const Pair pair;
  const Tensor x = ones({4, 3});
  pair.second(x).backward(ones({4, 2}));
  CHECK(pair.second.weight.grad().defined());
  pair.zero_grad();
  CHECK_FALSE(pair.second.weight.grad().defined());

  pair.second.requires_grad_(false);
  CHECK_FALSE(pair.second.weight.requires_grad());
  CHECK_FALSE(pair.parameter("second.bias").requires_grad());
  CHECK(pair.bias.requires_grad());
  CHECK_FALSE(pair.second(x).requires_grad());
  pair.requires_grad_();
  CHECK(pair.second(x).requires_grad());
}

TEST_CASE("module: a module added twice shares its parameters") {
  const nn::Module m;
  const Scale shared;
  m.add("a", shared);
  m.add("b", shared);
  CHECK(names(m.named_parameters()) == Names{"a.weight"});
  CHECK(m.num_parameters() == 3);
  CHECK(m.parameter("b.weight").node() == shared.weight.node());
  CHECK(m.state_dict().contains("b.weight"));
}

TEST_CASE("module: a part that was never added is found by name when it gets a gradient") {
  struct Forgetful : nn::Module {
    nn::Linear fc1 = add("fc1", nn::Linear(3, 3));
    nn::Linear fc2 = nn::Linear(3, 1);  // not added
  };
  const Forgetful model;
  model.parameters();
  model.fc2(model.fc1(ones({2, 3}))).backward(ones({2, 1}));
  CHECK_THROWS_WITH(
      nn::check_unclaimed_parameters("Adam"),
      "Adam: Linear.weight [1, 3] received a gradient but is in no optimizer: its module was never added "
      "(declare it as `nn::Linear fc = add(\"fc\", nn::Linear(...));`) or added after the optimizer was "
      "made; freeze a parameter that should not be trained with requires_grad_(false)");
  nn::check_unclaimed_parameters("Adam");  // said once

  model.fc1(ones({2, 3})).backward(ones({2, 3}));
  nn::check_unclaimed_parameters("Adam");  // nothing wrong here

  const Scale scale;
  (scale.weight * model.fc1.bias).backward(ones({3}));
  CHECK_THROWS_WITH(nn::check_unclaimed_parameters("Adam"),
                    doctest::Contains("Adam: Module.weight [3] received"));
}

TEST_CASE("module: only parameters() claims parameters") {
  const nn::Module model;
  const nn::Linear layer(2, 2), other = model.add("other", nn::Linear(2, 2));
  model.parameters();
  layer.state_dict();
  layer.num_parameters();
  layer.zero_grad();
  summary(layer);
  layer.parameter("weight");
  layer(other(ones({1, 2}))).backward(ones({1, 2}));
  CHECK_THROWS_WITH(nn::check_unclaimed_parameters("SGD"),
                    doctest::Contains("SGD: Linear.weight [2, 2] received"));
}

TEST_CASE("module: a model measured without an optimizer does not disturb another one's") {
  const nn::Linear measured(2, 2), trained(2, 2);
  measured(ones({1, 2})).backward(ones({1, 2}));
  trained.parameters();
  trained(ones({1, 2})).backward(ones({1, 2}));
  nn::check_unclaimed_parameters("SGD");
  CHECK(measured.weight.grad().defined());
}

TEST_CASE("module: errors inside a part name its path") {
  const Model model;
  check_error(
      [&] {
        model.layers[1].second(ones({4, 5}));
      },
      "Linear: expects x [..., 3], got [4, 5] (in layers.1.second)");
}

TEST_CASE("module: explain and detect_anomaly name the part") {
  const Model model;
  const Tensor x = ones({1, 3});
  CHECK(explain(model.layers[1].second(x)).find("layers.1.second") != std::string::npos);
  nn::Linear broken = model.layers[0].second;
  {
    const NoGrad guard;
    broken.weight.fill_(NAN);
  }
  const DetectAnomaly guard;
  CHECK_THROWS_WITH(broken(x), doctest::Contains("detect_anomaly: linear produced NaN"));
}
