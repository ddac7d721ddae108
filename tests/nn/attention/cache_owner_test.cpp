// The owner of a cache, and the tensors that must not change while it is in use.

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::max_difference;

namespace {

constexpr std::int64_t kContext = 11;

nn::GPTOptions small() {
  return {.vocab = 13, .context = kContext, .layers = 3, .block = {.d_model = 8, .heads = 2, .dropout = 0.1}};
}

/// In eval mode, with weights large enough for tokens to affect each other.
nn::GPT model_of(const nn::GPTOptions& options) {
  const nn::GPT gpt(options);
  for (const auto& [name, w] : gpt.named_parameters()) nn::init::normal_(w, 0, 0.5);
  gpt.eval();
  return gpt;
}

}  // namespace

TEST_CASE("KeyValueCache: append takes whole positions of its shape, as long as there is room") {
  const nn::MultiheadAttention attention({.d_model = 4, .heads = 2, .causal = true});
  nn::KeyValues kept = attention.new_cache(3, 4);
  const auto zeros_of = [](std::int64_t batch, std::int64_t heads, std::int64_t T) {
    return zeros({batch, heads, T, 2});
  };
  kept.append(zeros_of(3, 2, 3), zeros_of(3, 2, 3));
  check_error([&] { kept.append(zeros_of(1, 2, 1), zeros_of(3, 2, 1)); },
              "KeyValueCache: expects k of f32 [3, 2, 1, 2], got f32 [1, 2, 1, 2]");
  check_error([&] { kept.append(zeros_of(3, 2, 1), zeros_of(3, 1, 1)); },
              "KeyValueCache: expects v of f32 [3, 2, 1, 2], got f32 [3, 1, 1, 2]");
  check_error([&] { kept.append(zeros_of(3, 2, 1), zeros_of(3, 2, 2)); },
              "KeyValueCache: expects v of f32 [3, 2, 1, 2], got f32 [3, 2, 2, 2]");
  check_error([&] { kept.append(zeros_of(3, 2, 1), Tensor()); }, "KeyValueCache: v is an undefined tensor");
  check_error([&] { kept.append(zeros_of(3, 2, 1), zeros_of(3, 2, 1).to(f64)); },
              "KeyValueCache: expects v of f32 [3, 2, 1, 2], got f64 [3, 2, 1, 2]");
  CHECK(kept.length() == 3);
  kept.append(zeros_of(3, 2, 1), zeros_of(3, 2, 1));
  check_error([&] { kept.append(zeros_of(3, 2, 1), zeros_of(3, 2, 1)); },
              "KeyValueCache: holds 4 of 4 positions, 1 more do not fit: clear() it, or make a larger one");
  CHECK(kept.length() == 4);
}

TEST_CASE("KeyValueCache: select() changes what append() returned, and the tape notices") {
  const nn::MultiheadAttention attention({.d_model = 4, .heads = 2, .causal = true});
  for (const bool selects : {false, true}) {
    nn::KeyValues kept = attention.new_cache(2, 4);
    const auto [k, v] = kept.append(randn({2, 2, 3, 2}), randn({2, 2, 3, 2}));
    const Tensor q = randn({2, 2, 3, 2}).requires_grad_();
    const Tensor y = scaled_dot_product_attention(q, k, v).sum();
    if (selects) {
      kept.select(tensor({1, 0}));
      CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("was changed"), Error);
    } else {
      y.backward();
    }
  }
}

TEST_CASE("KeyValueCache: belongs to one model, even if layers are shared") {
  const nn::BlockOptions options{.d_model = 4, .heads = 2, .causal = true};
  const nn::PreLNBlock first(options);
  struct Shared : nn::Module {  // the attention of another block, and a norm of its own
    Shared(const nn::BlockOptions& o, const nn::PreLNBlock& other)
        : norm(add("norm", o.new_norm())), self_attn(add("self_attn", other.self_attn)) {}
    Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, nn::KeyValues* cache) const {
      return x + self_attn(norm(x), masks, cache);
    }
    nn::Norm norm;
    nn::MultiheadAttention self_attn;
  };
  const auto stack_of = [&] {
    return nn::TransformerEncoder(
        {.layers = 1,
         .placement = {.name = "shared",
                       .block = [&](const nn::BlockOptions& o) { return Shared(o, first); }},
         .block = options});
  };
  const nn::TransformerEncoder a = stack_of();
  const nn::TransformerEncoder b({.layers = 1, .block = options});
  const NoGrad guard;
  const Tensor x = randn({1, 2, 4});
  nn::KeyValueCache cache = a.new_cache(1, 4);
  a(x, {}, &cache);
  const nn::TransformerEncoder same = a;
  same(x, {}, &cache);
  const std::string other = "KeyValueCache: was made by another model or layer: call this one's new_cache()";
  check_error([&] { b(x, {}, &cache); }, other);
  const nn::GPT gpt = model_of(small());
  nn::KeyValueCache inner = gpt.transformer.new_cache(1, 8);
  check_error([&] { gpt(tensor({{1, 2}}), inner); }, other);
  check_error([&] { cache.add_model(b); }, "KeyValueCache: holds 4 positions already: clear() it first");
}

TEST_CASE("KeyValueCache: the weights of one attention's keys, and buffers, must not change") {
  const NoGrad guard;
  const nn::MultiheadAttention attention({.d_model = 4, .heads = 2, .causal = true});
  nn::KeyValues kept = attention.new_cache(1, 4);
  const Tensor x = randn({1, 2, 4});
  attention(x, {}, &kept);
  attention.in_proj_bias.fill_(1);
  const std::string changed = "KeyValueCache: the weights have changed since it was filled: clear() it";
  check_error([&] { attention(x, {}, &kept); }, changed);

  struct Centred : nn::Module {
    explicit Centred(std::int64_t size) : mean(buffer("mean", zeros({size}))) {}
    Tensor operator()(const Tensor& y) const { return y - mean; }
    nn::Buffer mean;
  };
  nn::GPTOptions options = small();
  options.block.norm = nn::make_norm<Centred>;
  const nn::GPT gpt = model_of(options);
  nn::KeyValueCache cache = gpt.new_cache();
  gpt(tensor({{1, 2}}), cache);
  gpt.named_buffers()[0].second.fill_(1);
  check_error([&] { gpt(tensor({{1, 2}}), cache); }, changed);
}

TEST_CASE("KeyValueCache: uninitialized memory is not read, and an error after the stack adds no position") {
  nn::GPTOptions options = small();
  options.tied = false;
  const nn::GPT gpt = model_of(options);
  const Tensor ids = tensor({{1, 2, 3}});
  {
    std::vector<Tensor> freed;
    for (int i = 0; i < 100; ++i) freed.push_back(full({1, 2, kContext, 4}, NAN));
  }
  const DetectAnomaly detect;
  nn::KeyValueCache cache = gpt.new_cache();
  CHECK_NOTHROW(gpt(ids, cache));
  const NoGrad no_grad;
  gpt.parameter("head.weight").fill_(NAN);
  cache.clear();
  CHECK_THROWS_AS(gpt.next_logits(ids, cache), Error);
  CHECK(cache.length() == 0);
}

TEST_CASE("KeyValueCache: a change of any weight of the model is detected") {
  const Tensor ids = tensor({{1, 2, 3, 4}});
  const nn::GPT gpt = model_of(small());
  for (const auto& parameter : gpt.named_parameters()) {
    const std::string& name = parameter.first;
    const Tensor& w = parameter.second;
    INFO(name);
    nn::KeyValueCache cache = gpt.new_cache();
    gpt.next_logits(ids.slice(1, 0, 3), cache);
    const nn::KeyValueCache copy = cache;
    nn::init::normal_(w, 0, 0.5);
    for (nn::KeyValueCache kept : {cache, copy})
      check_error([&] { gpt.next_logits(ids.slice(1, 3, 4), kept); },
                  "KeyValueCache: the weights have changed since it was filled: clear() it");
    cache.clear();
    CHECK(max_difference(gpt.next_logits(ids, cache), gpt(ids).select(1, -1)) < 1e-4);
  }
}
