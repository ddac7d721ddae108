#include "learn/learn.h"

Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  const double smallest = topk(logits, k).first[k - 1].item();
  return softmax(masked_fill(logits / temperature, logits < smallest, -INFINITY), 0);
}

using Model = std::function<Tensor(const std::vector<std::int64_t>& tokens)>;

std::vector<std::int64_t> generate(const Model& model, const std::vector<std::int64_t>& prompt, int steps,
                                   std::size_t context) {
  std::vector<std::int64_t> tokens = prompt;
  for (int step = 0; step < steps; ++step) {
    const std::size_t seen = std::min(context, tokens.size());
    const std::vector<std::int64_t> window(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end());
    tokens.push_back(model(window).argmax().item<std::int64_t>());
  }
  return tokens;
}
