// Text: characters as vocabulary, the end for validation, generation with a temperature.
#include <cstdio>

#include "gradus/gradus.h"
#include "gradus/kit/data/text_data.h"

using namespace gradus;

std::string sentences(int count) {  // in practice a file: kit::load_text("book.txt", context)
  const char* words[3][3] = {
      {"a fox", "the owl", "no cat"}, {" sees", " hears", " fears"}, {" me. ", " it. ", " us. "}};
  std::string text;
  for (int i = 0; i < 3 * count; ++i) text += words[i % 3][randint(0, 3, {1}).item<int>()];
  return text;
}

int main() {
  manual_seed(0);
  const std::int64_t context = 32;
  const kit::TextData text = kit::split_text(sentences(300), context, 0.9);
  const nn::BlockOptions block{.d_model = 48, .heads = 4, .dropout = 0.1};
  const nn::GPT gpt({.vocab = text.vocabulary.size(), .context = context, .layers = 2, .block = block});
  optim::AdamW opt(gpt.parameters(), {.lr = optim::warmup_cosine(5e-3, 20, 200)});
  const auto windows = data::text_windows(from_vector(text.train), context);
  data::DataLoader loader(windows, {.batch_size = 16, .shuffle = true});
  const auto [ids, next] = data::text_windows(from_vector(text.validation), context, /*stride=*/context);
  while (opt.steps() < 200) {
    const auto [x, y] = loader.next();
    opt.zero_grad();
    gpt.loss(x, y).backward();
    opt.step();
  }
  const nn::EvalMode eval(gpt);
  const NoGrad guard;
  const Tensor prompt = from_vector(text.vocabulary.encode("the owl "));
  const Tensor written = gpt.generate(prompt, 60, {.temperature = 0.8, .top_k = 5});
  std::printf("%s\n", text.vocabulary.decode(written.to_vector<std::int64_t>()).c_str());
  std::printf("validation: %.2f nats per character\n", gpt.loss(ids, next).item());
}
