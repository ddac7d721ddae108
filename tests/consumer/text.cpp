#include <gradus/gradus.h>
#include <gradus/text/text.h>

#include <iostream>
using namespace gradus;

int main(int, char** argv) {
  const std::vector<std::string> texts{"low lower lowest", "low low lowest"};
  text::train_byte_level_bpe(texts, {.vocab = 270, .special_tokens = {"</s>"}}).save(argv[1]);
  const auto tokenizer = text::load_tokenizer(argv[1]);
  const Tensor ids = from_vector(tokenizer->encode("low lower lowest</s>"));
  std::cout << tokenizer->decode(ids, {.skip_special = true}) << "\n";
}
