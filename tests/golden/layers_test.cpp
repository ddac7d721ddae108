// Norms over batches and groups, recurrent layers and padded embeddings against PyTorch's.

#include <doctest/doctest.h>

#include <functional>

#include "golden/golden.h"
#include "gradus/gradus.h"

namespace gradus::test {
namespace {

using Inputs = std::vector<Tensor>;
using nn::Size2;

template <class M, class F>
void check_layer(const std::string& name, const M& module, F f) {
  CAPTURE(name);
  const StateDict file = golden("layers.safetensors");
  const StateDict weights = file.with_prefix_removed(name + "/param/");
  module.load_state_dict(weights, {.strict = false});
  const Inputs inputs = golden_inputs(file, name);
  check_outputs(file, name, f(inputs), inputs);
  for (const auto& [key, parameter] : module.named_parameters()) {
    const std::string path = name + "/grad/" + key;
    REQUIRE(file.contains(path));
    check_close(name + " " + key, parameter.grad(), file.at(path));
  }
  for (const auto& [key, values] : module.named_buffers()) {
    const Tensor& expected = file.at(name + "/buffer/" + key);
    if (values.dtype() == i64)
      CHECK(values.item() == expected.item());
    else
      check_close(name + " " + key, values, expected);
  }
}

nn::RecurrentOptions sizes(std::int64_t layers = 1, bool bias = true) {
  return {.input_size = 5, .hidden_size = 4, .layers = layers, .bias = bias};
}

}  // namespace

TEST_CASE("PyTorch parity: batch and group norms") {
  const nn::GroupNorm group(2, 6);
  check_layer("group_norm", group, [&](const Inputs& x) { return group(x[0]); });
  for (const char* const name : {"batch_norm_1d", "batch_norm_2d", "batch_norm_eval"}) {
    const nn::BatchNorm norm(4);
    if (name == std::string("batch_norm_eval")) norm.eval();
    check_layer(name, norm, [&](const Inputs& x) { return norm(x[0]); });
  }
}

template <class Block>
void check_batch_norm_block(const std::string& name, bool trained) {
  const Block block({.d_model = 12, .heads = 3, .d_ff = 20, .norm = nn::norm_named("batch").make});
  if (trained) {
    const StateDict statistics = golden("layers.safetensors").with_prefix_removed(name + "/buffer/");
    CHECK(block.load_state_dict(statistics, {.strict = false}).unexpected.empty());
    block.eval();
  }
  check_layer(name, block, [&](const Inputs& x) { return block(x[0]); });
}

TEST_CASE("PyTorch parity: BatchNorm in blocks, over batch and positions, in training and eval mode") {
  check_batch_norm_block<nn::PreLNBlock>("batch_norm_pre_block", false);
  check_batch_norm_block<nn::PreLNBlock>("batch_norm_pre_block_eval", true);
  check_batch_norm_block<nn::PostLNBlock>("batch_norm_post_block", false);
  check_batch_norm_block<nn::PostLNBlock>("batch_norm_post_block_eval", true);
}

TEST_CASE("PyTorch parity: GRU and LSTM") {
  for (const std::string kind : {"", "_layers", "_no_bias"}) {
    const nn::RecurrentOptions o = sizes(kind == "_layers" ? 3 : 1, kind != "_no_bias");
    const nn::GRU gru(o);
    check_layer("gru" + kind, gru, [&](const Inputs& x) { return gru(x[0]).y; });
    const nn::LSTM lstm(o);
    check_layer("lstm" + kind, lstm, [&](const Inputs& x) { return lstm(x[0]).y; });
  }
  const nn::GRU gru(sizes(2));
  check_layer("gru_state", gru, [&](const Inputs& x) { return gru(x[0], x[1]).h; });
  const nn::LSTM lstm(sizes(2));
  check_layer("lstm_state", lstm, [&](const Inputs& x) {
    const nn::LSTMState last = lstm(x[0], {x[1], x[2]}).state;
    return stack({last.h, last.c});
  });
}

TEST_CASE("PyTorch parity: convolution and pooling") {
  const nn::Conv1d conv1d(3, 4, 3), conv1d_steps(3, 4, 2, {.stride = 3, .padding = 2, .bias = false});
  check_layer("conv1d", conv1d, [&](const Inputs& x) { return conv1d(x[0]); });
  check_layer("conv1d_steps", conv1d_steps, [&](const Inputs& x) { return conv1d_steps(x[0]); });
  const nn::Conv2d conv2d(2, 3, 3, {.padding = 1});
  check_layer("conv2d", conv2d, [&](const Inputs& x) { return conv2d(x[0]); });
  const nn::Conv2d conv2d_steps(2, 3, {2, 3}, {.stride = {3, 1}, .padding = {0, 2}});
  check_layer("conv2d_steps", conv2d_steps, [&](const Inputs& x) { return conv2d_steps(x[0]); });
  const nn::MaxPool1d max1d(3);
  const nn::MaxPool2d max2d({2, 3}, {.stride = Size2{1, 2}});
  const nn::AvgPool1d avg1d(3, {.stride = 2});
  const nn::AvgPool2d avg2d(2);
  const StateDict file = golden("layers.safetensors");
  const auto check_pool = [&](const std::string& name, const auto& pool) {
    const Inputs inputs = golden_inputs(file, name);
    check_outputs(file, name, pool(inputs[0]), inputs);
  };
  check_pool("max_pool1d", max1d);
  check_pool("max_pool2d", max2d);
  check_pool("avg_pool1d", avg1d);
  check_pool("avg_pool2d", avg2d);
}

TEST_CASE("PyTorch parity: an embedding with padding") {
  const nn::Embedding embedding(7, 5, {.padding_idx = 2});
  CHECK(embedding.weight.select(0, 2).abs().sum().item() == 0);
  check_layer("embedding_padding", embedding, [&](const Inputs& x) { return embedding(x[0]); });
}

}  // namespace gradus::test
