// Subwords: learn a vocabulary from texts, train a GPT on its tokens, and print its text as it is generated.
#include <cstdio>

#include "gradus/gradus.h"
#include "gradus/text/text.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const std::vector<std::string> songs{
      // read from files
      "Wer reitet so spät durch Nacht und Wind? Es ist der Vater mit seinem Kind.",
      "Er hat den Knaben wohl in dem Arm, er faßt ihn sicher, er hält ihn warm."};
  const auto bpe = text::train_byte_level_bpe(songs, {.vocab = 280, .special_tokens = {"</s>"}});
  bpe.save("tokenizer");  // text::load_tokenizer("tokenizer") reads it, and so does Hugging Face's library
  const std::int64_t end = bpe.id("</s>");

  const nn::BlockOptions block{.d_model = 32, .heads = 2};
  const nn::GPT gpt({.vocab = bpe.vocab_size(), .context = 96, .layers = 2, .block = block});
  optim::AdamW opt(gpt.parameters(), {.lr = 5e-3});
  for (std::size_t step = 0; step < 160; ++step) {
    const Tensor ids = from_vector(bpe.encode(songs[step % 2] + "</s>")).unsqueeze(0);  // [1, T]
    opt.zero_grad();
    gpt.loss(ids.slice(1, 0, -1), ids.slice(1, 1)).backward();
    opt.step();
  }

  text::Utf8Stream out;  // holds back incomplete UTF-8 characters
  const auto print = [&](const Tensor& token) {
    std::printf("%s", out.push(bpe.bytes(token.item<std::int64_t>())).c_str());
    return true;
  };
  for (const char* start : {"Wer", "Er"}) {
    std::printf("%s", start);
    gpt.generate(from_vector(bpe.encode(start)), 80, {.greedy = true, .stop = {end}, .on_token = print});
    std::printf("\n");
  }
}
