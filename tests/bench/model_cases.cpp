// One training step of whole models: forward, backward, optimizer; or a product with a model's Hessian.

#include <optional>

#include "bench/cases.h"
#include "gradus/gradus.h"

namespace gradus::bench {

nn::GPTOptions gpt2_small() {
  return {.vocab = 50257,
          .context = 1024,
          .layers = 12,
          .block = {.d_model = 768, .heads = 12, .activation = nn::Activation::gelu}};
}

Step gpt_step(const nn::GPTOptions& options, std::int64_t batch, std::int64_t tokens) {
  const nn::GPT model(options);
  auto opt = std::make_shared<optim::AdamW>(
      model.parameters(), optim::AdamWOptions{.lr = 1e-4, .betas = {0.9, 0.95}, .weight_decay = 0.1});
  return [=] {
    const Tensor ids = randint(0, options.vocab, {batch, tokens}),
                 targets = randint(0, options.vocab, {batch, tokens});
    model.loss(ids, targets).backward();
    opt->step();
    opt->zero_grad();
  };
}

namespace {

/// The Hessian of a GPT's loss times a vector.
Step hvp_step(const nn::GPTOptions& options, std::int64_t batch, std::int64_t tokens) {
  const nn::GPT model(options);
  std::vector<Tensor> v;
  for (const Tensor& p : model.parameters()) v.push_back(randn(p.shape()));
  return [=, ids = randint(0, options.vocab, {batch, tokens}),
          targets = randint(0, options.vocab, {batch, tokens})] {
    hvp([&] { return model.loss(ids, targets); }, model.parameters(), v);
  };
}

Step encoder_step(std::int64_t layers) {
  const nn::TransformerEncoder model(
      {.layers = layers, .placement = nn::post_ln(), .block = {.d_model = 64, .heads = 4}});
  auto opt = std::make_shared<optim::Adam>(model.parameters(), optim::AdamOptions{.lr = 1e-4});
  return [=, x = randn({16, 64, 64})] {
    opt->zero_grad();
    model(x).square().mean().backward();
    opt->step();
  };
}

Step mlp_step() {
  const nn::Sequential model(nn::Linear(2, 16), nn::Tanh(), nn::Linear(16, 1));
  auto opt = std::make_shared<optim::Adam>(model.parameters(), optim::AdamOptions{.lr = 1e-3});
  return [=, x = randn({32, 2}), y = randn({32, 1})] {
    opt->zero_grad();
    mse_loss(model(x), y).backward();
    opt->step();
  };
}

/// One more token from a model that has read 64; the context is let run full before it starts again. In bf16
/// the weights are kept in it, as PyTorch's are then.
Step generate_step(const nn::GPTOptions& options) {
  std::optional<nn::Bf16Weights> half;
  if (product_dtype() == bf16) half.emplace();
  const nn::GPT model(options);
  model.eval();
  auto cache = std::make_shared<nn::KeyValueCache>(model.new_cache());
  return [=, prompt = randint(0, options.vocab, {1, 64})] {
    if (cache->length() == 0) model.next_logits(prompt, *cache);
    model.next_logits(prompt.slice(1, 0, 1), *cache).argmax();
    if (cache->length() == cache->capacity()) cache->clear();
  };
}

}  // namespace

std::vector<Case> model_cases() {
  const nn::GPTOptions gpt2 = gpt2_small();
  const nn::GPTOptions small{.vocab = 65,
                             .context = 64,
                             .layers = 4,
                             .block = {.d_model = 128, .heads = 4, .activation = nn::Activation::gelu}};
  return {
      {"char-gpt", "nanoGPT's CPU setting: 4 layers, d 128, batch 12 x 64, AdamW",
       [=] { return gpt_step(small, 12, 64); }},
      {"char-gpt-hvp", "the Hessian of char-gpt's loss times a vector",
       [=] { return hvp_step(small, 12, 64); }},
      {"gpt2-124m", "GPT-2 small, batch 4 x 64, AdamW", [=] { return gpt_step(gpt2, 4, 64); }},
      {"generate-124m", "one token of GPT-2 small, keys and values cached",
       [=] { return generate_step(gpt2); }},
      {"encoder-12", "12 Post-LN layers, d 64, T 64, batch 16, Adam", [] { return encoder_step(12); }},
      {"encoder-48", "48 Post-LN layers, d 64, T 64, batch 16, Adam", [] { return encoder_step(48); }},
      {"mlp", "MLP 2-16-1, batch 32, Adam", mlp_step, 100},
  };
}

}  // namespace gradus::bench
