// summary() with an example input; state_test.cpp tests it without one.
#include <doctest/doctest.h>

#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;

namespace {

struct Digits : nn::Module {
  nn::Sequential features = add("features", nn::Sequential(nn::Conv2d(1, 2, 3), relu, nn::MaxPool2d(2)));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.5));
  nn::Linear head = add("head", nn::Linear(8, 10));
  nn::Linear unused = add("unused", nn::Linear(1, 1));
  Tensor operator()(const Tensor& x) const { return head(dropout(features(x).flatten(1))); }
};

struct Two : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(2, 2));
  Tensor operator()(const Tensor& a, const Tensor& b) const {
    const Tensor y = fc(a);
    return y + fc(b.slice(0, 0, 1));
  }
};

}  // namespace

TEST_CASE("summary: output shapes for an example input") {
  const Digits net;
  CHECK(summary(net, zeros({4, 1, 6, 6})) ==
        "name        kind        output        parameters                     count\n"
        "(model)     Digits      [4, 10]\n"
        "features    Sequential  [4, 2, 2, 2]\n"
        "features.0  Conv2d      [4, 2, 4, 4]  weight [2, 1, 3, 3], bias [2]     20\n"
        "features.2  MaxPool2d   [4, 2, 2, 2]\n"
        "dropout     Dropout     [4, 8]\n"
        "head        Linear      [4, 10]       weight [10, 8], bias [10]         90\n"
        "unused      Linear                    weight [1, 1], bias [1]            2\n"
        "112 parameters, 112 trainable, 448 bytes\n");
}

TEST_CASE("summary: buffers have a separate total") {
  CHECK(summary(nn::Sequential(nn::BatchNorm(2))) ==
        "name     kind        parameters            count\n"
        "(model)  Sequential\n"
        "0        BatchNorm   weight [2], bias [2]      4\n"
        "4 parameters, 4 trainable, 16 bytes; 3 buffers, 24 bytes\n");
}

TEST_CASE("summary: an example changes nothing") {
  const nn::Sequential net(nn::BatchNorm(2), nn::Dropout(0.5));
  manual_seed(1);
  const Tensor drawn = randn({3});
  manual_seed(1);
  const Tensor mean = net.named_buffers()[0].second.clone();
  const std::int64_t nodes = live_nodes();
  summary(net, ones({3, 2}));
  CHECK(equal(net.named_buffers()[0].second, mean));
  CHECK(live_nodes() == nodes);
  CHECK(net.is_training());
  CHECK(nn::detail::forward_hooks == 0);
  CHECK(equal(randn({3}), drawn));
}

TEST_CASE("summary: several inputs, the later of two calls, outputs that are not Tensors") {
  const std::string text = summary(Two(), ones({3, 2}), ones({4, 2}));
  CHECK(text.find("(model)  Two     [3, 2]") != std::string::npos);
  CHECK(text.find("fc       Linear  [1, 2]") != std::string::npos);
  const nn::GRU gru({.input_size = 2, .hidden_size = 3});
  CHECK(summary(gru, ones({1, 4, 2})).find("(model)  GRU   [1, 4, 3]") != std::string::npos);
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  const std::string layers = summary(gpt, tensor({{1, 2}}));
  CHECK(layers.find("GPT                 [1, 2, 5]") != std::string::npos);
  CHECK(layers.find("PreLNBlock          [1, 2, 4]") != std::string::npos);
  CHECK_THROWS_WITH(summary(Two(), ones({3, 3}), ones({4, 2})), doctest::Contains("Linear"));
  CHECK(nn::detail::forward_hooks == 0);
}
