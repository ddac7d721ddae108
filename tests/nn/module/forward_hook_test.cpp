#include "gradus/nn/module/forward_hook.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/nn/nn.h"
#include "gradus/optim/sgd.h"
#include "nn/check_module.h"

using namespace gradus;

namespace {

using Seen = std::vector<std::pair<std::string, Shape>>;

/// "kind path", or "kind" without a path.
std::string name_of(const nn::Module& m) { return *m.path() ? m.kind() + " " + m.path() : m.kind(); }

nn::ForwardHook collect(const nn::Module& model, Seen& seen) {
  return model.on_forward(
      [&](const nn::Module& m, const Tensor& y) { seen.emplace_back(name_of(m), y.shape()); });
}

/// The modules that hooks of the model see in f(model).
template <class Model, class F>
Seen seen_in(const Model& model, const F& f) {
  Seen seen;
  const nn::ForwardHook hook = collect(model, seen);
  f(model);
  return seen;
}

/// The number of occurrences of each name.
std::multiset<std::string> names_of(const Seen& seen) {
  std::multiset<std::string> names;
  for (const auto& [name, shape] : seen) names.insert(name);
  return names;
}

/// Does not report its output.
struct Silent : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(3, 4));
  Tensor operator()(const Tensor& x) const { return tanh(fc(x)); }
};

/// Reports its output.
struct Telling : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(3, 4));
  Tensor operator()(const Tensor& x) const { return report(tanh(fc(x))); }
};

}  // namespace

TEST_CASE("on_forward: every layer of the library reports its output, once") {
  const Tensor rows = randn({2, 3, 4}), image = randn({2, 4, 6, 6}), ids = tensor({{1, 2}});
  const auto check_layer = [](const auto& layer, const auto&... inputs) {
    const std::string kind = layer.kind();
    CAPTURE(kind);
    std::vector<Tensor> outputs;
    const nn::ForwardHook hook = layer.on_forward([&](const nn::Module& m, const Tensor& y) {
      if (m == layer) outputs.push_back(y);
    });
    const Tensor y = layer(inputs...);
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].shape() == y.shape());
    CHECK(test::max_difference(outputs[0], y) == 0);
    CHECK(outputs[0].node() == y.node());  // on the tape, where there is one
  };
  check_layer(nn::Linear(4, 5), rows);
  check_layer(nn::Linear(4, 5), rows, nn::Activation::relu);
  check_layer(nn::Embedding(5, 4), ids);
  check_layer(nn::Embedding(5, 4, {.padding_idx = 0}), ids);
  check_layer(nn::LearnedPositions(5, 4), 3);
  check_layer(nn::SinusoidalPositions(5, 4), 3);
  check_layer(nn::Dropout(0.0), rows);
  check_layer(nn::Dropout(0.5), rows);
  check_layer(nn::FFN({.d_model = 4}), rows);
  check_layer(nn::LayerNorm(4), rows);
  check_layer(nn::RMSNorm(4), rows);
  check_layer(nn::BatchNorm(4), image);
  check_layer(nn::GroupNorm(2, 4), image);
  check_layer(nn::Conv1d(3, 2, 2), rows);
  check_layer(nn::Conv2d(4, 2, 3), image);
  check_layer(nn::MaxPool1d(2), rows);
  check_layer(nn::AvgPool1d(2), rows);
  check_layer(nn::MaxPool2d(2), image);
  check_layer(nn::AvgPool2d(2), image);
  check_layer(nn::ReLU(), rows);
  check_layer(nn::GELU(), rows);
  check_layer(nn::SiLU(), rows);
  check_layer(nn::Tanh(), rows);
  check_layer(nn::Sigmoid(), rows);
  check_layer(nn::Identity(), rows);
  check_layer(nn::Flatten(), rows);
  check_layer(nn::MultiheadAttention({.d_model = 4, .heads = 2}), rows);
  check_layer(nn::MultiheadAttention({.d_model = 4, .heads = 2}), rows, rows);
  const nn::BlockOptions block{.d_model = 4, .heads = 2};
  check_layer(nn::PreLNBlock(block), rows);
  check_layer(nn::PostLNBlock(block), rows);
  check_layer(nn::Block<nn::PreLN>(block), rows);
  check_layer(nn::AnyBlock(nn::PreLNBlock(block)), rows);
  check_layer(nn::Norm(nn::LayerNorm(4)), rows);
  check_layer(nn::PreLNDecoderBlock(block), rows, rows);
  check_layer(nn::PostLNDecoderBlock(block), rows, rows);
  check_layer(nn::DecoderBlock<nn::PostLN>(block), rows, rows);
  check_layer(nn::TransformerEncoder({.layers = 2, .block = block}), rows);
  check_layer(nn::TransformerDecoder({.layers = 2, .block = block}), rows, rows);
  check_layer(nn::GPT({.vocab = 5, .context = 4, .layers = 1, .block = block}), ids);
  check_layer(nn::Sequential(nn::Linear(4, 5), tanh), rows);
  CHECK(seen_in(nn::GRU({.input_size = 4, .hidden_size = 5}), [&](const auto& m) { m(rows); }) ==
        Seen{{"GRU", {2, 3, 5}}});
  CHECK(seen_in(nn::LSTM({.input_size = 4, .hidden_size = 5}), [&](const auto& m) { m(rows); }) ==
        Seen{{"LSTM", {2, 3, 5}}});
}

TEST_CASE("on_forward: a block with a cache, and a GPT with one") {
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  nn::KeyValueCache cache = gpt.new_cache();
  const auto names = names_of(seen_in(gpt, [&](const auto& m) { m(tensor({{1, 2}}), cache); }));
  for (const char* name : {"GPT", "PreLNBlock layers.0", "MultiheadAttention layers.0.self_attn"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("on_forward: all below, in the order they are computed") {
  const nn::Sequential net(nn::Linear(2, 3), tanh, nn::Sequential(nn::Linear(3, 4), nn::ReLU()));
  CHECK(seen_in(net,
                [](const auto& m) {
                  m(ones({5, 2}));
                }) == Seen{{"Linear 0", {5, 3}},
                           {"Linear 2.0", {5, 4}},
                           {"ReLU 2.1", {5, 4}},
                           {"Sequential 2", {5, 4}},
                           {"Sequential", {5, 4}}});
}

TEST_CASE("on_forward: user modules are seen if a container calls them or they report") {
  const Tensor x = ones({2, 3});
  const auto call = [&](const auto& m) { m(x); };
  CHECK(seen_in(Silent(), call) == Seen{{"Linear fc", {2, 4}}});
  CHECK(seen_in(Telling(), call) == Seen{{"Linear fc", {2, 4}}, {"Module", {2, 4}}});
  CHECK(seen_in(nn::Sequential(Silent()), call) ==
        Seen{{"Linear 0.fc", {2, 4}}, {"Silent 0", {2, 4}}, {"Sequential", {2, 4}}});
  CHECK(seen_in(nn::Sequential(Telling()), call) ==  // once
        Seen{{"Linear 0.fc", {2, 4}}, {"Telling 0", {2, 4}}, {"Sequential", {2, 4}}});
  using Any = nn::AnyModule<Tensor(const Tensor&)>;
  CHECK(seen_in(Any(Silent()), call) == Seen{{"Linear fc", {2, 4}}, {"Silent", {2, 4}}});
  CHECK(seen_in(nn::Sequential(Any(Telling())), call) ==
        Seen{{"Linear 0.fc", {2, 4}}, {"Telling 0", {2, 4}}, {"Sequential", {2, 4}}});
}

TEST_CASE("on_forward: user blocks in a stack") {
  struct Mine : nn::Module {
    explicit Mine(const nn::BlockOptions& o) : fc(add("fc", nn::Linear(o.d_model, o.d_model))) {}
    Tensor operator()(const Tensor& x) const { return x + fc(x); }
    nn::Linear fc;
  };
  const nn::TransformerEncoder encoder(
      {.layers = 2,
       .placement = {.name = "mine", .block = [](const nn::BlockOptions& o) { return Mine(o); }},
       .block = {.d_model = 4, .heads = 1}});
  CHECK(seen_in(encoder,
                [](const auto& m) {
                  m(ones({1, 2, 4}));
                }) == Seen{{"Linear layers.0.fc", {1, 2, 4}},
                           {"Mine layers.0", {1, 2, 4}},
                           {"Linear layers.1.fc", {1, 2, 4}},
                           {"Mine layers.1", {1, 2, 4}},
                           {"TransformerEncoder", {1, 2, 4}}});
}

TEST_CASE("on_forward: only this part, until the last copy of the hook is destroyed") {
  const nn::Sequential net(nn::Linear(2, 3), nn::Linear(3, 4));
  const Tensor x = ones({1, 2});
  const nn::Module second = net.children()[1].second;
  Seen seen;
  CHECK(nn::detail::forward_hooks == 0);
  {
    std::optional<nn::ForwardHook> hook = collect(second, seen);
    net(x);
    CHECK(seen == Seen{{"Linear 1", {1, 4}}});
    const nn::ForwardHook copy = *hook;
    hook.reset();
    net(x);
    CHECK(seen.size() == 2);
  }
  CHECK(nn::detail::forward_hooks == 0);
  net(x);
  CHECK(seen.size() == 2);
}

TEST_CASE("on_forward: several hooks in their order; one may end itself; a shared part is seen once") {
  const nn::Module model("Model");
  const nn::Linear shared = model.add("a", nn::Linear(2, 2));
  model.add("b", shared);
  std::string order;
  std::optional<nn::ForwardHook> first = model.on_forward([&](const nn::Module&, const Tensor&) {
    order += "1";
    first.reset();
  });
  const nn::ForwardHook second = model.on_forward([&](const nn::Module&, const Tensor&) { order += "2"; });
  shared(ones({1, 2}));
  CHECK(order == "12");
  shared(ones({1, 2}));
  CHECK(order == "122");
}

TEST_CASE("on_forward: a hook outlives the model, and does not keep it alive") {
  std::optional<nn::ForwardHook> hook;
  const std::int64_t before = live_nodes();
  {
    const nn::Linear layer(2, 2);
    hook = layer.on_forward([](const nn::Module&, const Tensor&) {});
  }
  CHECK(live_nodes() == before);
  hook.reset();
  CHECK(nn::detail::forward_hooks == 0);
}

TEST_CASE("on_forward: changes no value; gradients can be observed; a hook may throw") {
  const nn::Sequential net(nn::Linear(2, 3), tanh, nn::Linear(3, 1));
  const Tensor x = randn({4, 2});
  const auto gradients = [&] {
    net.zero_grad();
    net(x).sum().backward();
    return net.parameter("0.weight").grad().clone();
  };
  const Tensor without = gradients();
  {
    std::vector<Shape> shapes;
    const nn::ForwardHook hook = net.on_forward([&](const nn::Module&, const Tensor& y) {
      y.on_grad([&shapes](const Tensor& dy) { shapes.push_back(dy.shape()); });
    });
    CHECK(equal(gradients(), without));
    CHECK(shapes.size() == 3);  // both layers, and the Sequential
  }
  {
    const nn::ForwardHook hook = net.on_forward(
        [](const nn::Module& m, const Tensor&) { throw std::runtime_error("seen " + m.kind()); });
    CHECK_THROWS_WITH(net(x), doctest::Contains("seen Linear"));
  }
  CHECK(equal(gradients(), without));
  CHECK_THROWS_WITH((void)net.on_forward(nullptr),
                    doctest::Contains("on_forward: expects a function of a module and its output, got none"));
}

TEST_CASE("on_forward: with recomputation a block is seen again in backward") {
  const nn::TransformerEncoder encoder(
      {.layers = 1, .block = {.d_model = 4, .heads = 1}, .checkpoint = true});
  const auto count = [&](bool backward) {
    const auto names = names_of(seen_in(encoder, [&](const auto& m) {
      const Tensor y = m(ones({1, 2, 4}));
      if (backward) y.sum().backward();
    }));
    return names.count("PreLNBlock layers.0");
  };
  CHECK(count(false) == 1);
  CHECK(count(true) == 2);
}

TEST_CASE("on_forward: on the thread that computes") {
  const nn::Linear layer(2, 2);
  std::thread::id seen;
  const nn::ForwardHook hook =
      layer.on_forward([&](const nn::Module&, const Tensor&) { seen = std::this_thread::get_id(); });
  std::thread other([&] { layer(ones({1, 2})); });
  const std::thread::id id = other.get_id();
  other.join();
  CHECK(seen == id);
}
