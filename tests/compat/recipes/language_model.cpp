// A language model: a GPT learns one sentence, character by character, and writes it.
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

Tensor to_ids(const std::string& text) {
  return from_vector(std::vector<signed char>(text.begin(), text.end()));  // i64 [T]
}

int main() {
  manual_seed(0);
  const std::string text =
      "every number remembers how it was made, so the loss can tell each weight its way; ";
  const std::int64_t context = 16;
  const nn::GPT gpt({.vocab = 128, .context = context, .layers = 2, .block = {.d_model = 32, .heads = 2}});
  optim::AdamW opt(gpt.parameters(), {.lr = optim::warmup_cosine(5e-3, 20, 200)});

  data::DataLoader loader(data::text_windows(to_ids(text + text), context),  // one window at every character
                          {.batch_size = 32, .shuffle = true, .drop_last = true});
  for (int step = 0; step < 200; ++step) {
    const auto [ids, targets] = loader.next();  // targets: the characters, shifted by one
    const Tensor loss = gpt.loss(ids, targets);
    opt.zero_grad();
    loss.backward();
    optim::clip_grad_norm(gpt.parameters(), 1.0);
    opt.step();
    if (step % 50 == 0) std::printf("%3d  loss %.1f\n", step, loss.item());
  }

  const Tensor written = gpt.generate(to_ids("every number "), 70, {.greedy = true});
  for (const std::int64_t letter : written.to_vector<std::int64_t>()) std::putchar(static_cast<char>(letter));
  std::printf("\n");
}
