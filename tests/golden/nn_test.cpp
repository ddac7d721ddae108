// Outputs and all gradients of every module, and ten training losses, against PyTorch's.

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "golden/golden.h"
#include "gradus/gradus.h"

namespace gradus::test {
namespace {

using Inputs = std::vector<Tensor>;
constexpr std::int64_t kModel = 12, kHeads = 3, kHidden = 20;

/// Loads <name>/param/*, runs f, compares the output and every gradient.
template <class M, class F>
void check_module(const StateDict& file, const std::string& name, const M& module, F f) {
  CAPTURE(name);
  module.load_state_dict(file.with_prefix_removed(name + "/param/"));
  const Inputs inputs = golden_inputs(file, name);
  check_outputs(file, name, f(inputs), inputs);
  for (const auto& [key, parameter] : module.named_parameters()) {
    const Tensor* const gradient = file.find(name + "/grad/" + key);
    if (gradient != nullptr) check_close(name + " " + key, parameter.grad(), *gradient);
  }
}

nn::MultiheadAttention attention(bool causal = false, bool bias = true) {
  return nn::MultiheadAttention({.d_model = kModel, .heads = kHeads, .causal = causal, .bias = bias});
}

nn::BlockOptions block(nn::Activation activation = nn::Activation::relu, bool causal = false) {
  return {.d_model = kModel, .heads = kHeads, .d_ff = kHidden, .activation = activation, .causal = causal};
}

nn::TransformerEncoder stack_of(nn::Placement placement) {
  return nn::TransformerEncoder({.layers = 2, .placement = placement, .block = block()});
}

}  // namespace

TEST_CASE("PyTorch parity: layers") {
  const StateDict file = golden("modules.safetensors");
  const nn::Linear linear(7, 5);
  check_module(file, "linear", linear, [&](const Inputs& x) { return linear(x[0]); });
  const nn::Embedding embedding(7, 5);
  check_module(file, "embedding", embedding, [&](const Inputs& x) { return embedding(x[0]); });
  const nn::LayerNorm norm(kModel);
  check_module(file, "layer_norm", norm, [&](const Inputs& x) { return norm(x[0]); });
}

TEST_CASE("PyTorch parity: MultiheadAttention") {
  const StateDict file = golden("modules.safetensors");
  const nn::MultiheadAttention plain = attention(), causal = attention(true),
                               no_bias = attention(false, false);
  check_module(file, "mha", plain, [&](const Inputs& x) { return plain(x[0]); });
  plain.zero_grad();
  check_module(file, "mha_padding", plain,
               [&](const Inputs& x) { return plain(x[0], {.key_padding_mask = x[1]}); });
  plain.zero_grad();
  check_module(file, "mha_cross", plain, [&](const Inputs& x) { return plain(x[0], x[1]); });
  plain.zero_grad();
  check_module(file, "mha_weights", plain,
               [&](const Inputs& x) { return plain.with_weights(x[0], x[0]).second; });
  check_module(file, "mha_causal", causal, [&](const Inputs& x) { return causal(x[0]); });
  check_module(file, "mha_no_bias", no_bias, [&](const Inputs& x) { return no_bias(x[0]); });
}

TEST_CASE("PyTorch parity: encoder blocks") {
  const StateDict file = golden("modules.safetensors");
  for (const auto& [name, activation] :
       {std::pair{"relu", nn::Activation::relu}, {"gelu", nn::Activation::gelu}}) {
    const nn::PreLNBlock pre(block(activation));
    check_module(file, std::string("pre_block_") + name, pre, [&](const Inputs& x) { return pre(x[0]); });
    const nn::PostLNBlock post(block(activation));
    check_module(file, std::string("post_block_") + name, post, [&](const Inputs& x) { return post(x[0]); });
  }
  const nn::PreLNBlock causal(block(nn::Activation::relu, true));
  check_module(file, "pre_block_causal", causal, [&](const Inputs& x) { return causal(x[0]); });
  const nn::PostLNBlock post(block());
  check_module(file, "post_block_padding", post,
               [&](const Inputs& x) { return post(x[0], {.key_padding_mask = x[1]}); });
}

TEST_CASE("PyTorch parity: decoder blocks and stacks") {
  const StateDict file = golden("modules.safetensors");
  const nn::BlockOptions options{.d_model = kModel, .heads = kHeads, .d_ff = kHidden};
  const nn::PreLNDecoderBlock pre(options);
  check_module(file, "pre_decoder_block", pre, [&](const Inputs& x) { return pre(x[0], x[1]); });
  const nn::PostLNDecoderBlock post(options);
  check_module(file, "post_decoder_block", post, [&](const Inputs& x) { return post(x[0], x[1]); });
  const nn::TransformerEncoder pre_stack = stack_of(nn::pre_ln()), post_stack = stack_of(nn::post_ln());
  check_module(file, "pre_stack", pre_stack, [&](const Inputs& x) { return pre_stack(x[0]); });
  check_module(file, "post_stack", post_stack, [&](const Inputs& x) { return post_stack(x[0]); });
}

TEST_CASE("PyTorch parity: ten training losses of a small GPT, Pre-LN and Post-LN") {
  const StateDict file = golden("losses.safetensors");
  for (const auto& [name, placement] : {std::pair{"pre", nn::pre_ln()}, {"post", nn::post_ln()}}) {
    const nn::GPT gpt({.vocab = 11,
                       .context = 8,
                       .layers = 2,
                       .placement = placement,
                       .block = {.d_model = 16, .heads = 2, .activation = nn::Activation::gelu}});
    StateDict weights;
    for (const auto& [key, value] : file.with_prefix_removed(std::string(name) + "/param/")) {
      if (key == "tok.weight")
        weights.set("token_embedding.weight", value);
      else if (key == "pos.weight")
        weights.set("position_embedding.weight", value);
      else
        weights.set(key.substr(std::string("layers.").size()), value);  // their name of the whole stack
    }
    gpt.load_state_dict(weights);
    optim::Adam opt(gpt.parameters(), {.lr = 1e-2});
    const Tensor data = file.at(std::string(name) + "/data");
    std::vector<Tensor> losses;
    for (int step = 0; step < 10; ++step) {
      const Tensor loss = gpt.loss(data.slice(1, 0, 8), data.slice(1, 1, 9));
      opt.zero_grad();
      loss.backward();
      opt.step();
      losses.push_back(loss.detach());
    }
    check_close(name, stack(losses, 0), file.at(std::string(name) + "/losses"));
  }
}

}  // namespace gradus::test
