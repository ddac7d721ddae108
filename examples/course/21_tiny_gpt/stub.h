#include "learn/learn.h"

// Sampling from a language model. About 14 lines.
//
// `top_k` returns probabilities [V], given the logits [V]: the k largest logits stay, all other tokens get
// probability 0. A temperature below 1 sharpens what stays, one above 1 flattens it. In which order do you
// pick the k, apply the temperature and normalize, so that the sum is 1?
//
// `generate` appends `steps` tokens to the prompt, each the most likely one (greedy). The model reads at
// most the last `context` tokens of all that is there so far, and returns the logits [V] of the next one.
// What does it read once more tokens are there than fit?
//
// Forbidden: nn. Useful: topk(x, k), masked_fill, softmax(x, 0), argmax().item<std::int64_t>().

Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  return todo(logits, k, temperature);
}

using Model = std::function<Tensor(const std::vector<std::int64_t>& tokens)>;

/// Returns the prompt and what was generated.
std::vector<std::int64_t> generate(const Model& model, const std::vector<std::int64_t>& prompt, int steps, std::size_t context) {
  return todo(model, prompt, steps, context);
}
