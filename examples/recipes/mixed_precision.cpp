// Mixed precision: a GPT learns a sentence with products in bf16, and writes it with weights stored in bf16.
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

const nn::GPTOptions kOptions{.vocab = 128, .context = 16, .layers = 2, .block = {.d_model = 32, .heads = 2}};

Tensor to_ids(const std::string& s) { return from_vector(std::vector<signed char>(s.begin(), s.end())); }

nn::GPT made_for_inference() {
  const nn::Bf16Weights guard;  // models made while it exists store their weights in bf16
  return nn::GPT(kOptions);
}

int main() {
  const std::string text = "half the bits of a number are enough to multiply, but not to add; ";
  const auto [ids, targets] = data::text_windows(to_ids(text + text), kOptions.context);
  const nn::GPT reader = made_for_inference();
  for (const DType products : {f32, bf16}) {
    manual_seed(0);
    const nn::GPT gpt(kOptions);
    optim::AdamW opt(gpt.parameters(), {.lr = optim::warmup_cosine(5e-3, 20, 200)});
    for (int step = 0; step < 200; ++step) {
      const Autocast guard(products);  // with f32 it changes nothing
      opt.zero_grad();
      gpt.loss(ids, targets).backward();
      opt.step();
    }
    std::printf("products in %-4s  loss %.1f\n", name(products), gpt.loss(ids, targets).item());
    reader.load_state_dict(gpt.state_dict());  // rounded
  }
  const Tensor written = reader.generate(to_ids("half "), 60, {.greedy = true});
  for (const std::int64_t letter : written.to_vector<std::int64_t>()) std::putchar(static_cast<char>(letter));
  std::printf("\n");
}
