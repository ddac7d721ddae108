#include <doctest/doctest.h>

#include <sstream>

#include "check_op.h"
#include "gradus/nn/layers/linear.h"
#include "gradus/nn/module/module.h"
#include "gradus/optim/sgd.h"

using namespace gradus;
using test::check_error;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(2, 3));
  nn::Linear fc2 = add("fc2", nn::Linear(3, 1));
  nn::Buffer steps = buffer("steps", zeros({1}));
  nn::Buffer table = buffer("table", ones({4}), /*persistent=*/false);
};

std::vector<std::string> keys(const StateDict& state) {
  std::vector<std::string> found;
  for (const auto& [key, values] : state) found.push_back(key);
  return found;
}

/// `state` without one key.
StateDict without(const StateDict& state, const std::string& key) {
  StateDict rest;
  for (const auto& [name, values] : state)
    if (name != key) rest.set(name, values);
  return rest;
}

}  // namespace

TEST_CASE("state_dict: parameters and persistent buffers, without a tape") {
  const Net net;
  const StateDict state = net.state_dict();
  CHECK(keys(state) == std::vector<std::string>{"steps", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"});
  for (const auto& [key, values] : state) CHECK_FALSE(values.requires_grad());
  CHECK(state.at("fc1.weight").array().storage().data() == net.fc1.weight.array().storage().data());
}

TEST_CASE("load_state_dict: copies values, keeps storage, converts the dtype") {
  const Net a, b;
  const void* const memory = b.fc1.weight.array().raw();
  const nn::LoadReport report = b.load_state_dict(a.state_dict());
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  CHECK(b.fc1.weight.array().raw() == memory);
  CHECK(b.fc1.weight.to_vector<float>() == a.fc1.weight.to_vector<float>());
  CHECK(b.fc2.bias.to_vector<float>() == a.fc2.bias.to_vector<float>());

  StateDict doubles;
  for (const auto& [key, values] : a.state_dict()) doubles.set(key, full(values.shape(), 0.5, f64));
  b.load_state_dict(doubles);
  CHECK(b.fc2.weight.dtype() == f32);
  CHECK(b.fc2.weight.array().at({0, 2}) == 0.5);
  CHECK(b.steps.array().at({0}) == 0.5);
}

TEST_CASE("load_state_dict: everything that does not fit is reported at once, and nothing changes") {
  const Net net;
  const std::vector<float> before = net.fc1.bias.to_vector<float>();
  StateDict state = without(without(net.state_dict(), "fc1.weight"), "steps");
  state.set("fc2.weight", zeros({3, 1}));
  state.set("fc2.bias", zeros({2}));
  state.set("fc1.bias", ones({3}));
  state.set("fc3.weight", zeros({1}));
  state.set("norm.bias", zeros({1}));
  check_error([&] { net.load_state_dict(state); },
              "load_state_dict: the state does not fit this model:\n"
              "  missing: steps, fc1.weight\n"
              "  unexpected: fc3.weight, norm.bias\n"
              "  mismatched: fc2.weight expects [1, 3], got [3, 1]; fc2.bias expects [1], got [2]");
  CHECK(net.fc1.bias.to_vector<float>() == before);
  state = net.state_dict();
  state.set("transformer.h.0.attn.c_attn.weight", zeros({2}));
  check_error([&] { net.load_state_dict(state); },
              "load_state_dict: the state does not fit this model:\n"
              "  unexpected: transformer.h.0.attn.c_attn.weight\n"
              "  these are Hugging Face's names: load_pretrained() of GPT, Bert, T5 and others reads them");
}

TEST_CASE("load_state_dict: only one kind of problem") {
  const nn::Linear layer(2, 3);
  check_error([&] { layer.load_state_dict(without(layer.state_dict(), "bias")); },
              "load_state_dict: the state does not fit this Linear:\n  missing: bias");
  StateDict more = layer.state_dict();
  more.set("gain", zeros({3}));
  check_error([&] { layer.load_state_dict(more); },
              "load_state_dict: the state does not fit this Linear:\n  unexpected: gain");
  check_error([&] { layer.load_state_dict(nn::Linear(2, 4).state_dict()); },
              "load_state_dict: the state does not fit this Linear:\n"
              "  mismatched: weight expects [3, 2], got [4, 2]; bias expects [3], got [4]");
  StateDict undefined = layer.state_dict();
  undefined.set("bias", Tensor());
  check_error([&] { layer.load_state_dict(undefined); },
              "load_state_dict: the state does not fit this Linear:\n"
              "  mismatched: bias expects [3], got an undefined tensor");
}

TEST_CASE("load_state_dict: not strict reports keys and still rejects shapes") {
  const nn::Linear layer(2, 3);
  const std::vector<float> bias = layer.bias.to_vector<float>();
  const nn::LoadReport report =
      layer.load_state_dict({{"weight", ones({3, 2})}, {"gain", zeros({1})}}, {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"bias"});
  CHECK(report.unexpected == std::vector<std::string>{"gain"});
  CHECK(layer.weight.array().at({2, 1}) == 1);
  CHECK(layer.bias.to_vector<float>() == bias);
  check_error(
      [&] {
        layer.load_state_dict({{"weight", ones({2})}}, {.strict = false});
      },
      "load_state_dict: the state does not fit this Linear:\n  mismatched: weight expects [3, 2], got [2]");
}

TEST_CASE("load_state_dict: integers do not convert to weights, nor weights to integers") {
  const nn::Module model("Net");
  model.parameter("w", zeros({2}));
  const nn::Buffer steps = model.buffer("steps", zeros({1}, i64));
  check_error(
      [&] {
        model.load_state_dict({{"w", ones({2}, i64)}, {"steps", full({1}, 2.5)}});
      },
      "load_state_dict: the state does not fit this Net:\n"
      "  mismatched: w expects f32 [2], got i64; steps expects i64 [1], got f32");
  model.load_state_dict({{"w", ones({2}, f64)}, {"steps", full({1}, 3, i64)}});
  CHECK(steps.item() == 3);
}

TEST_CASE("load_state_dict: a state that is the model's own memory is an error") {
  const Net net;
  const StateDict best = net.state_dict(), kept = net.state_dict().clone();
  const std::vector<float> before = net.fc1.weight.to_vector<float>();
  {
    const NoGrad guard;
    net.fc1.weight.fill_(9);
  }
  check_error([&] { net.load_state_dict(best); },
              "load_state_dict: the state is this model's own memory, so nothing would change: state_dict() "
              "returns handles; to keep values during further training, use state_dict().clone()");
  net.load_state_dict(kept);
  CHECK(net.fc1.weight.to_vector<float>() == before);
  const Net copy = net;
  check_error(
      [&] { copy.copy_parameters_from(net); },
      "copy_parameters_from: both are handles to the same model: copies of a module share its parameters; "
      "build another one");
}

TEST_CASE("load_state_dict: values in the memory of other parameters of the model") {
  const nn::Module model("Pair");
  const nn::Linear a = model.add("a", nn::Linear(2, 2)), b = model.add("b", nn::Linear(2, 2));
  const std::vector<float> was_a = a.weight.to_vector<float>(), was_b = b.weight.to_vector<float>();
  const StateDict now = model.state_dict();
  model.load_state_dict({{"a.weight", now.at("b.weight")},
                         {"a.bias", now.at("b.bias")},
                         {"b.weight", now.at("a.weight")},
                         {"b.bias", now.at("a.bias")}});
  CHECK(a.weight.to_vector<float>() == was_b);
  CHECK(b.weight.to_vector<float>() == was_a);
}

TEST_CASE("load_state_dict: not strict, and no key fits") {
  const nn::Linear layer(2, 3);
  StateDict prefixed;
  prefixed.add_all("model.", nn::Linear(2, 3).state_dict());
  check_error(
      [&] { layer.load_state_dict(prefixed, {.strict = false}); },
      "load_state_dict: no key of the state is one of this Linear's: it has 'model.weight', ..., this "
      "Linear expects 'weight', ...");
}

TEST_CASE("load_state_dict: an optimizer continues with the loaded values") {
  const nn::Linear layer(2, 1, {.bias = false}), other(2, 1, {.bias = false});
  optim::SGD opt(layer.parameters(), {.lr = 0.5, .momentum = 0.5});
  const auto step = [&] {
    opt.zero_grad();
    layer(ones({1, 2})).sum().backward();
    opt.step();
  };
  step();
  layer.copy_parameters_from(other);
  step();  // momentum 0.5 * 1 + gradient 1
  for (int i = 0; i < 2; ++i)
    CHECK(layer.weight.span<float>()[static_cast<std::size_t>(i)] ==
          doctest::Approx(other.weight.span<float>()[static_cast<std::size_t>(i)] - 0.5 * 1.5));
}

TEST_CASE("load_state_dict: between forward and backward it is an error, never a wrong gradient") {
  const nn::Linear layer(2, 3);
  Tensor x = ones({1, 2});
  x.requires_grad_();
  const Tensor y = layer(x);
  layer.load_state_dict(nn::Linear(2, 3).state_dict());
  CHECK_THROWS_WITH(y.backward(ones({1, 3})),
                    doctest::Contains("was changed in place after the forward pass"));
}

TEST_CASE("summary: a row per module, own parameters, totals") {
  const Net net;
  net.fc2.requires_grad_(false);
  CHECK(summary(net) ==
        "name     kind    parameters               count\n"
        "(model)  Net\n"
        "fc1      Linear  weight [3, 2], bias [3]      9\n"
        "fc2      Linear  weight [1, 3], bias [1]      4\n"
        "13 parameters, 9 trainable, 52 bytes; 2 buffers, 20 bytes\n");
  std::ostringstream out;
  out << net;
  CHECK(out.str() == summary(net));
}

TEST_CASE("summary: large counts, shared parameters, parts without a name") {
  const nn::Module model("Tied");
  const nn::Linear shared = model.add("a", nn::Linear(1000, 1234, {.bias = false}));
  model.add("b", shared);
  const nn::Module inner("Inner");
  model.add("", inner);
  inner.add("c", nn::Linear(1, 1, {.bias = false}));
  CHECK(summary(model) ==
        "name     kind    parameters                        count\n"
        "(model)  Tied\n"
        "a        Linear  weight [1234, 1000]           1,234,000\n"
        "b        Linear  weight [1234, 1000] (shared)\n"
        "c        Linear  weight [1, 1]                         1\n"
        "1,234,001 parameters, 1,234,001 trainable, 4,936,004 bytes\n");
}
