#include "learn/learn.h"

Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor below = logits - logits.max();  // 0 for the largest: neither the limit nor exp overflows
  const Tensor scaled = temperature > 0 ? below / temperature : masked_fill(below, below < 0, -INFINITY);
  const auto [z, tokens] = topk(scaled, k > 0 ? k : logits.numel());
  Tensor kept = softmax(z, 0);
  if (p < 1) kept = masked_fill(kept, cumsum(kept, 0) - kept >= p, 0.0);
  return scatter(zeros_like(logits), 0, tokens, kept / kept.sum());
}

std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  const std::vector<double> next = log_p.to_vector<double>();
  const std::size_t V = next.size() / beams.size();
  std::vector<Beam> longer;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i] == -INFINITY) continue;
    Beam beam = beams[i / V];
    beam.tokens.push_back(static_cast<std::int64_t>(i % V));
    beam.log_p += next[i];
    longer.push_back(beam);
  }
  std::stable_sort(longer.begin(), longer.end(),
                   [](const Beam& a, const Beam& b) { return a.log_p > b.log_p; });
  longer.resize(std::min(width, longer.size()));
  return longer;
}
