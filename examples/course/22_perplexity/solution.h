#include "learn/learn.h"

double perplexity(const std::vector<Batch>& batches) {
  double nats = 0, tokens = 0;
  for (const auto& [logits, target] : batches) {
    nats += cross_entropy(logits, target, {.reduction = Reduction::sum}).item();
    tokens += (target != -100).to(f64).sum().item();
  }
  return std::exp(nats / tokens);
}

double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  double bytes = 0;
  for (const std::int64_t id : ids.to_vector<std::int64_t>())
    bytes += static_cast<double>(vocabulary[static_cast<std::size_t>(id)].size());
  return loss.sum().item() / std::log(2.0) / bytes;
}

std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all;
  std::int64_t scored = 0;
  for (std::int64_t begin = 0; scored < N; begin += stride) {
    const std::int64_t end = std::min(begin + size, N);
    all.push_back({begin, end, scored});
    scored = end;
  }
  return all;
}
