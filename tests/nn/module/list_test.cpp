// Temporary lists of parameters, parts, beams and batches give their elements as values.

#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "gradus/data/data.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/adam.h"

using namespace gradus;

namespace {

struct Tower : nn::Module {
  std::vector<nn::Linear> layers = add_list("layers", 2, [](int) { return nn::Linear(2, 2); });
  nn::Buffer steps = buffer("steps", ones({1}));
};

using Named = std::pair<std::string, nn::Module>;
static_assert(std::same_as<decltype(std::declval<const Tower&>().parameters()[0]), Tensor>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().buffers()[0]), Tensor>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().named_parameters()[0]), StateDict::Entry>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().own_parameters()[0]), StateDict::Entry>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().named_buffers()[0]), StateDict::Entry>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().children()[0]), Named>);
static_assert(std::same_as<decltype(std::declval<const Tower&>().named_modules()[0]), Named>);
static_assert(
    std::same_as<decltype(std::declval<const Tower&>().add_list("", 1, [](int) { return nn::ReLU(); })[0]),
                 nn::ReLU>);
static_assert(std::same_as<decltype(std::declval<const nn::Probe&>().rows()[0]), nn::ProbeRow>);
static_assert(std::same_as<decltype(std::declval<nn::GPT>().options()), nn::GPTOptions>);
static_assert(std::same_as<decltype(std::declval<nn::Bert>().options()), nn::BertOptions>);
static_assert(std::same_as<decltype(std::declval<nn::Seq2SeqTransformer>().options()), nn::Seq2SeqOptions>);
static_assert(
    std::same_as<decltype(std::declval<nn::TransformerEncoder>().options()), nn::TransformerOptions>);
static_assert(
    std::same_as<decltype(std::declval<nn::TransformerDecoder>().options()), nn::TransformerOptions>);
static_assert(
    std::same_as<decltype(std::declval<const nn::GPT&>().beam_search(Tensor(), {})[0]), nn::Hypothesis>);
static_assert(
    std::same_as<decltype(std::declval<const nn::T5&>().beam_search(Tensor(), {})[0][0]), nn::Hypothesis>);
static_assert(std::same_as<decltype(std::declval<data::DataLoader<2>&>().next()[0]), Tensor>);
static_assert(std::same_as<decltype(data::random_split(3, 0.5)[0]), Tensor>);
static_assert(std::same_as<decltype(data::random_split(3, {0.5, 0.5})[0]), Tensor>);
static_assert(std::same_as<decltype(data::text_windows(Tensor(), 2)[0]), Tensor>);

}  // namespace

TEST_CASE("lists of a module: an element of a temporary list remains valid") {
  const Tower tower;
  const Tensor& w = tower.parameters()[0];
  const auto& [name, bias] = tower.named_parameters().back();
  const Tensor& steps = tower.named_buffers()[0].second;
  const nn::Module& last = tower.children().back().second;
  const std::vector<Tensor> others(100);  // where the lists were
  CHECK(w.node() == tower.layers[0].weight.node());
  CHECK(name == "layers.1.bias");
  CHECK(bias.node() == tower.layers[1].bias.node());
  CHECK(steps.item() == 1);
  CHECK(last.kind() == "List");
}

TEST_CASE("add_list: a list may be empty") {
  struct Net : nn::Module {
    std::vector<nn::Linear> layers = add_list("layers", 0, [](int) { return nn::Linear(2, 2); });
  };
  const Net net;
  CHECK(net.layers.empty());
  CHECK(net.parameters().empty());
}

TEST_CASE("lists of a module: convert to vectors") {
  const Tower a, b;
  auto both = a.parameters();
  TensorList all = b.parameters();
  all.insert(all.end(), both.begin(), both.end());
  const std::vector<Tensor> plain = a.parameters();
  CHECK(all.size() == plain.size() + both.size());
  const optim::AdamW opt({{.parameters = a.parameters()}, {b.parameters(), 1e-3}}, {.lr = 3e-4});
  CHECK(opt.groups() == 2);
  const optim::Adam one(all, {.lr = 1e-3});
  CHECK(one.groups() == 1);
}

TEST_CASE("arrays of tensors: an element of a temporary array remains valid; structured bindings") {
  data::DataLoader loader({arange(4), arange(4) * 2}, {.batch_size = 2});
  const Tensor& x = loader.next()[0];
  const auto [a, b] = loader.next();
  CHECK(x.sum().item() == 1);
  CHECK(a.sum().item() == 5);
  CHECK(b.sum().item() == 10);
  const std::array<Tensor, 2> plain = loader.next();
  CHECK(plain[1].sum().item() == 2);
  data::DataLoader windows(data::text_windows(arange(5), 2), {.batch_size = 3});
  for (const auto& [ids, targets] : windows) CHECK((targets - ids == 1).all());
  data::DataLoader again(6, [&](std::int64_t) { return windows.next(); });
  CHECK(again.next()[1].shape() == Shape{1, 3, 2});
}
