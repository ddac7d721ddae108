// Pretrained weights: load a GPT from its folder, generate text, fine-tune it on another text, save it.
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

int main(int argc,
         char** argv) {  // pretrained FOLDER: Hugging Face's config.json and model.safetensors
  if (argc < 2) return std::fprintf(stderr, "usage: pretrained FOLDER\n"), 2;
  manual_seed(0);
  // [load]
  const nn::GPT gpt = nn::GPT::load_pretrained(argv[1], {.dropout = 0});
  const Tensor prompt = tensor({3, 1, 4});
  std::cout << gpt.generate(prompt, 9, {.greedy = true}) << "\n";
  // [/load]

  // [tune]
  gpt.train();  // it is loaded in eval mode
  optim::Adam opt(gpt.parameters(), {.lr = 0.02});
  const Tensor text = tensor({{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}});
  for (int step = 0; step < 60; ++step) {
    opt.zero_grad();
    gpt.loss(text.slice(1, 0, 11), text.slice(1, 1)).backward();
    opt.step();
  }
  gpt.save_pretrained("tuned");
  // [/tune]

  const nn::GPT tuned = nn::GPT::load_pretrained("tuned");
  std::cout << tuned.generate(prompt, 9, {.greedy = true}) << "\n";
  for (const auto& [name, w] : load_safetensors("tuned/model.safetensors"))
    if (name.starts_with("transformer.h.1.attn")) std::cout << name << " " << to_string(w.shape()) << "\n";
}
