// A module's parts and tensors cannot be replaced, moved from or separated from the optimizer and files by
// accident.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/sgd.h"

using namespace gradus;
using test::check_error;

namespace {

/// Parts of all kinds that a move could remove.
struct Net : nn::Module {
  nn::Linear first = add("first", nn::Linear(2, 3));
  std::vector<nn::Linear> middle = add_list("middle", 2, [](int) { return nn::Linear(3, 3); });
  std::optional<nn::LayerNorm> norm = add("norm", nn::LayerNorm(3));
  nn::Parameter gain = parameter("gain", full({3}, 2.0));
  std::vector<nn::Parameter> offsets;
  nn::Buffer shift = buffer("shift", ones({3}));
  nn::Sequential last = add("last", nn::Sequential(nn::Linear(3, 2), nn::ReLU()));

  Net() {
    offsets.push_back(parameter("offset0", ones({3})));
    offsets.push_back(parameter("offset1", ones({3})));
  }
  Tensor operator()(const Tensor& x) const {
    Tensor y = first(x);
    for (const nn::Linear& layer : middle) y = layer(y);
    if (norm) y = (*norm)(y);
    for (const nn::Parameter& offset : offsets) y = y + offset;
    return last(y * gain + shift);
  }
};

/// A second level of inheritance, with its own members.
struct Tall : Net {
  std::vector<nn::Linear> more = add_list("more", 3, [](int) { return nn::Linear(2, 2); });
  Tensor operator()(const Tensor& x) const {
    Tensor y = Net::operator()(x);
    for (const nn::Linear& layer : more) y = layer(y);
    return y;
  }
};

Tall made() {
  Tall tall;
  return tall;
}

bool same(const Tensor& a, const Tensor& b) { return a.to_vector<float>() == b.to_vector<float>(); }

template <class Model>
concept Guarded = std::is_copy_constructible_v<Model> && std::is_move_constructible_v<Model> &&
                  !std::is_copy_assignable_v<Model> &&
                  !std::is_move_assignable_v<Model> && !std::is_swappable_v<Model>;

template <class Layer, class Value>
concept WeightTakes = requires(Layer layer, Value value) {
  layer.weight = std::forward<Value>(value);
};

template <class Member>
concept Declares = requires(const nn::Module& m) {
  Member{m.parameter("w", Tensor())};
};

template <class Element>
concept LoopsOverParameters = requires(const nn::Module& m, void (&body)(Element)) {
  body(m.parameters()[0]);
};

/// GPT-2's head, in PyTorch written `head.weight = embedding.weight`.
struct Tied : nn::Module {
  explicit Tied(std::int64_t vocab = 5, std::int64_t dim = 4)
      : embedding(add("embedding", nn::Embedding(vocab, dim))),
        head(add("head", nn::Linear(embedding.weight, {.bias = false}))) {}
  nn::Embedding embedding;
  nn::Linear head;
  Tensor operator()(const Tensor& ids) const { return head(embedding(ids)); }
};

struct Untied : nn::Module {
  nn::Embedding embedding = add("embedding", nn::Embedding(5, 4));
  nn::Linear head = add("head", nn::Linear(4, 5, {.bias = false}));
};

}  // namespace

TEST_CASE("parameters and buffers: another tensor cannot replace them") {
  static_assert(!WeightTakes<nn::Linear, Tensor>);
  static_assert(!WeightTakes<nn::Linear, const Tensor&>);
  static_assert(!WeightTakes<nn::Linear, nn::Parameter>);
  static_assert(!WeightTakes<nn::Linear, nn::Parameter&>);
  static_assert(!WeightTakes<nn::Linear, const nn::Parameter&>);
  static_assert(!WeightTakes<nn::Embedding, const nn::Parameter&>);
  static_assert(!WeightTakes<nn::LayerNorm, Tensor>);
  static_assert(!WeightTakes<nn::RMSNorm, Tensor>);
  static_assert(!WeightTakes<nn::LearnedPositions, Tensor>);
  static_assert(!std::is_assignable_v<decltype((std::declval<nn::SinusoidalPositions&>().table)), Tensor>);
  static_assert(
      !std::is_assignable_v<decltype((std::declval<nn::MultiheadAttention&>().in_proj_weight)), Tensor>);
  static_assert(!std::is_swappable_v<nn::Parameter>);
  // A member declared as Tensor does not compile, nor does a loop that would write into copies of handles.
  static_assert(Declares<nn::Parameter> && Declares<nn::Buffer> && !Declares<Tensor>);
  static_assert(!std::is_assignable_v<Tensor&, nn::Registered>);
  static_assert(LoopsOverParameters<const Tensor&> && !LoopsOverParameters<Tensor&>);
  // Otherwise it is a Tensor.
  static_assert(std::is_convertible_v<nn::Parameter, Tensor>);
  static_assert(std::is_assignable_v<Tensor&, const nn::Parameter&>);
}

TEST_CASE("parameters: may be registered late, once") {
  struct Late : nn::Module {
    nn::Parameter weight, bias;
    explicit Late(bool with_bias) {
      weight = parameter("weight", ones({2}));
      if (with_bias) bias = parameter("bias", zeros({2}));
    }
  };
  CHECK_FALSE(Late(false).bias.defined());
  Late late(true);
  CHECK(late.bias.node() == late.parameter("bias").node());
  CHECK_THROWS_WITH_AS(
      late.weight = late.parameter("other", ones({3})),
      "Parameter [2]: cannot be replaced by [3]: to change its values call copy_(values) under NoGrad",
      Error);
  CHECK(late.weight.node() == late.parameter("weight").node());
}

TEST_CASE("modules: cannot be assigned, and a move copies the handle") {
  static_assert(Guarded<nn::Module> && Guarded<nn::Linear> && Guarded<nn::Sequential> && Guarded<nn::GPT> &&
                Guarded<nn::TransformerEncoder> && Guarded<nn::TransformerDecoder> &&
                Guarded<nn::PreLNBlock> && Guarded<nn::PostLNDecoderBlock> && Guarded<Net> && Guarded<Tall>);
  static_assert(!std::is_assignable_v<std::optional<nn::Linear>&, nn::Linear>);
  static_assert(!std::is_copy_assignable_v<std::variant<nn::PreLNBlock, nn::PostLNBlock>>);

  const Tensor x = randn({4, 2});
  Tall a = made();
  const Tensor y = a(x);
  const std::size_t count = a.parameters().size();
  const auto whole = [&](const Tall& m) {
    CHECK(m == a);
    CHECK(m.parameters().size() == count);
    CHECK(m.more.size() == 3);
    CHECK(same(m(x), y));
  };

  Tall b = std::move(a);
  whole(a), whole(b);
  std::optional<Tall> maybe = std::move(b);
  whole(b);
  const std::optional<Tall> other = std::move(maybe);
  whole(*maybe), whole(*other);
  std::pair<std::string, Tall> pair("a", *other);
  const auto moved_pair = std::move(pair);
  whole(pair.second), whole(moved_pair.second);
  std::vector<Tall> list;
  for (int i = 0; i < 5; ++i) list.push_back(a);
  list.emplace_back(std::move(a));
  for (const Tall& m : list) whole(m);
  whole(a);
  std::variant<nn::Linear, Tall> either = std::move(list[0]);
  const auto moved_either = std::move(either);
  whole(list[0]), whole(std::get<Tall>(either)), whole(std::get<Tall>(moved_either));
  struct Holder {
    Tall model;
    std::string name;
  };
  Holder holder{a, "a"};
  const Holder moved_holder = std::move(holder);
  whole(holder.model), whole(moved_holder.model);
  const auto owned = std::make_unique<Tall>(std::move(b));
  whole(b), whole(*owned);
  const auto call = [m = std::move(b)](const Tensor& input) { return m(input); };
  whole(b);
  CHECK(same(call(x), y));
}

TEST_CASE("modules: a Sequential, a stack and a GPT that were moved from still work") {
  const Tensor x = randn({2, 3, 4}), ids = randint(0, 7, {2, 3});
  nn::Sequential net(nn::Linear(4, 4), nn::ReLU());
  const nn::Sequential net2 = std::move(net);
  CHECK(same(net(x), net2(x)));  // NOLINT
  CHECK_FALSE(same(net(x), x));
  nn::TransformerEncoder encoder({.layers = 2, .block = {.d_model = 4, .heads = 2}});
  const nn::TransformerEncoder encoder2 = std::move(encoder);
  CHECK(same(encoder(x), encoder2(x)));  // NOLINT
  CHECK(encoder.layers.size() == 2);
  nn::GPT gpt({.vocab = 7, .context = 3, .layers = 1, .block = {.d_model = 4, .heads = 2}, .tied = false});
  const nn::GPT gpt2 = std::move(gpt);
  CHECK(same(gpt(ids), gpt2(ids)));  // NOLINT
}

TEST_CASE("tying: one parameter under two names, counted once and trained once") {
  const Tied model;
  CHECK(model.head.weight.node() == model.embedding.weight.node());
  CHECK(model.parameters().size() == 1);
  CHECK(model.num_parameters() == 20);
  CHECK(model.state_dict().size() == 2);
  CHECK(model.parameter("head.weight").node() == model.parameter("embedding.weight").node());

  const Tensor before = model.embedding.weight.detach().clone();
  optim::SGD opt(model.parameters(), {.lr = 0.5});
  const Tensor ids = tensor({0, 3, 3});
  model(ids).sum().backward();
  const Tensor gradient = model.head.weight.grad();
  // Of the head: the sum of its inputs in every row; of the embedding: the sum of all rows, for each id.
  Tensor expected = zeros({5, 4});
  const Tensor rows = before[0] + before[3] * 2.0, column_sum = before.sum({0});
  for (int i = 0; i < 5; ++i) expected[i] = rows;
  expected[0] = expected[0] + column_sum;
  expected[3] = expected[3] + column_sum * 2.0;
  CHECK(allclose(gradient, expected, 1e-5, 1e-6));
  opt.step();
  CHECK(allclose(model.head.weight.detach(), before - expected * 0.5, 1e-5, 1e-6));
}

TEST_CASE("tying: an embedding shares a head's weight, with a separate bias; frozen remains frozen") {
  const nn::Linear head(4, 5);
  head.requires_grad_(false);
  const nn::Embedding embedding(head.weight);
  CHECK_FALSE(embedding.weight.requires_grad());
  CHECK(same(embedding(tensor({2})).squeeze(0), head.weight[2]));
  const nn::Linear other(head.weight);
  CHECK(other.bias.shape() == Shape{5});
  CHECK_FALSE(other.bias.node() == head.bias.node());
  CHECK(other.bias.requires_grad());
  const DefaultDType guard(f64);
  const nn::Linear single = nn::Linear(head.weight);  // its bias has the dtype of the weight
  CHECK(single.bias.dtype() == f32);

  check_error([] { nn::Linear(nn::LayerNorm(3).weight); }, "Linear: expects a weight [out, in], got [3]");
  check_error([] { nn::Embedding(nn::LayerNorm(3).bias); },
              "Embedding: expects a weight [count, dim], got [3]");
  check_error([] { nn::Linear(nn::Linear(2, 3, {.bias = false}).bias); },
              "Linear: weight is an undefined tensor");
}

TEST_CASE("tying: saved under both names, loaded only when both agree") {
  const Tied a, b;
  b.load_state_dict(a.state_dict());
  CHECK(same(b.head.weight, a.head.weight));
  b.copy_parameters_from(Tied());
  CHECK(same(b.head.weight, b.embedding.weight));

  const std::vector<float> before = b.head.weight.to_vector<float>();
  check_error([&] { b.load_state_dict(Untied().state_dict()); },
              "load_state_dict: the state does not fit this model:\n"
              "  one parameter here, but with different values: embedding.weight and head.weight");
  CHECK(b.head.weight.to_vector<float>() == before);
  const Tied one(1, 1);
  check_error(
      [&] {
        one.load_state_dict({{"embedding.weight", ones({1, 1})}, {"head.weight", zeros({1, 1})}});
      },
      "load_state_dict: the state does not fit this model:\n"
      "  one parameter here, but with different values: embedding.weight and head.weight");
  const Untied untied;
  untied.load_state_dict(a.state_dict());
  b.copy_parameters_from(untied);  // two tensors with the same values
  CHECK(same(b.head.weight, a.head.weight));
  StateDict nans = a.state_dict().clone();
  nans.at("head.weight").fill_(NAN);
  nans.at("embedding.weight").fill_(NAN);
  b.load_state_dict(nans);
  CHECK(std::isnan(b.head.weight.array().at({0, 0})));
}

TEST_CASE(
    "optimizers: a part added after the optimizer was made is detected, even if parameters() was called") {
  for (const bool clips : {false, true}) {
    const nn::Module net("Net");
    const nn::Linear fc = net.add("fc", nn::Linear(2, 2));
    optim::SGD opt(net.parameters(), {.lr = 0.1});
    const nn::Linear extra = net.add("extra", nn::Linear(2, 2));
    extra(fc(ones({1, 2}))).sum().backward();
    if (clips) optim::clip_grad_norm(net.parameters(), 1);
    check_error(
        [&] { opt.step(); },
        "SGD: extra.weight [2, 2] received a gradient but is in no optimizer: its module was never added "
        "(declare it as `nn::Linear fc = add(\"fc\", nn::Linear(...));`) or added after the optimizer was "
        "made; freeze a parameter that should not be trained with requires_grad_(false)");

    optim::SGD all(net.parameters(), {.lr = 0.1});  // a new optimizer
    extra(fc(ones({1, 2}))).sum().backward();
    all.step();
  }
}

TEST_CASE("optimizers: some parameters may be left out") {
  struct Model : nn::Module {
    nn::Linear body = add("body", nn::Linear(2, 2));
    nn::Linear head = add("head", nn::Linear(2, 1));
    Tensor operator()(const Tensor& x) const { return head(body(x)); }
  };
  const Tensor x = ones({1, 2});
  {  // named before the optimizer is made
    const Model model;
    std::vector<Tensor> biases;
    for (const auto& [name, w] : model.named_parameters())
      if (name.ends_with("bias")) biases.push_back(w);
    optim::Adam opt(biases);
    model(x).sum().backward();
    optim::clip_grad_norm(model.parameters(), 1);
    opt.step();
  }
  {  // frozen
    const Model model;
    model.body.requires_grad_(false);
    optim::Adam opt(model.head.parameters());
    model(x).sum().backward();
    opt.step();
  }
  {  // in another optimizer
    const Model model;
    optim::Adam head(model.head.parameters()), body(model.body.parameters());
    model(x).sum().backward();
    head.step();
    body.step();
  }
  {  // forgotten
    const Model model;
    optim::Adam opt(model.head.parameters());
    model(x).sum().backward();
    CHECK_THROWS_WITH(opt.step(),
                      doctest::Contains("Adam: body.weight [2, 2] received a gradient but is in no"));
  }
}
