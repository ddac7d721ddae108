// A second model with copied values, which shares nothing with the first.

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/sgd.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

struct Tower : nn::Module {
  nn::Embedding embedding = add("embedding", nn::Embedding(5, 4));
  nn::BatchNorm norm = add("norm", nn::BatchNorm(4));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.5));
  nn::Linear head = add("head", nn::Linear(embedding.weight, {.bias = false}));  // tied
  nn::Buffer scale = buffer("scale", ones({1}), /*persistent=*/false);
  Tensor operator()(const Tensor& ids) const { return head(dropout(norm(embedding(ids)))) * scale; }
};

const Tensor kRows = tensor({0, 3, 1, 4, 2, 2});

void train_step(const Tower& model) {
  optim::SGD opt(model.parameters(), {.lr = 0.5});
  cross_entropy(model(kRows), kRows).backward();
  opt.step();
}

/// The memory addresses of a state's tensors.
std::vector<const void*> places(const nn::Module& model) {
  std::vector<const void*> found;
  for (const auto& [name, values] : model.state_dict()) found.push_back(values.array().storage().data());
  return found;
}

}  // namespace

TEST_CASE("a second model: copies of parameters and buffers in separate memory") {
  for (const bool by_state : {true, false}) {
    const Tower model, twin;
    train_step(model);  // the statistics of the norm move too
    if (by_state)
      twin.load_state_dict(model.state_dict());
    else
      twin.copy_parameters_from(model);
    CHECK(twin.norm.num_batches_tracked.item() == 1);
    const StateDict before = twin.state_dict().clone();
    for (const auto& [name, values] : model.state_dict()) CHECK((before.at(name) == values).all());
    for (const void* const place : places(model))
      for (const void* const other : places(twin)) CHECK(place != other);

    train_step(model);
    for (const auto& [name, values] : twin.state_dict()) CHECK((before.at(name) == values).all());
    CHECK((twin.embedding.weight != model.embedding.weight).any());
    CHECK((twin.norm.running_mean != model.norm.running_mean).any());
    CHECK(twin.norm.num_batches_tracked.item() == 1);

    train_step(twin);  // one weight under two names, as before
    CHECK((twin.embedding.weight == twin.head.weight).all());
    CHECK((twin.embedding.weight != before.at("embedding.weight")).any());
    CHECK(twin.parameters().size() == model.parameters().size());
  }
}

TEST_CASE(
    "a second model: keeps its mode, flags, gradients and unsaved buffers, and uses no random numbers") {
  const Tower model, twin;
  model.eval();
  model.embedding.requires_grad_(false);
  model.norm.zero_grad();
  model(kRows).sum().backward();
  {
    const NoGrad guard;
    model.scale.zero_();
  }
  manual_seed(3);
  const Tensor drawn = rand({4});
  manual_seed(3);
  twin.copy_parameters_from(model);
  CHECK((rand({4}) == drawn).all());
  CHECK(twin.is_training());
  CHECK(twin.dropout.is_training());
  CHECK(twin.embedding.weight.requires_grad());
  CHECK(model.norm.weight.grad().defined());
  CHECK_FALSE(twin.norm.weight.grad().defined());
  CHECK(twin.scale.item() == 1);
  const Tower handle = model;  // a copy is the same model
  CHECK(places(handle) == places(model));
}

TEST_CASE("a second model: made from the options of a loaded one") {
  nn::GPTOptions options =
      nn::llama({.vocab = 7, .context = 8, .layers = 2, .d_model = 8, .heads = 4, .kv_heads = 2, .d_ff = 6});
  const nn::GPT gpt(options);
  randomize(gpt);
  const nn::GPT twin(gpt.options());
  twin.load_state_dict(gpt.state_dict());
  const Tensor ids = tensor({{1, 2, 3}});
  CHECK(max_difference(twin(ids), gpt(ids)) == 0);
}

}  // namespace gradus::test
