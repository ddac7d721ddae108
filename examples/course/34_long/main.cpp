// Memory of attention, recall from far away, the gradient that reaches the first token.
// Its chapter: docs/course/34_long/README.md
#include <cmath>
#include <cstdio>
#include "gradus/gradus.h"
using namespace gradus;

namespace {
constexpr std::int64_t kDistances[] = {16, 64, 256, 1024};
constexpr std::int64_t kValues = 8, kNoise = 8, kQuestion = 16;

// [naive]
/// Attention as in the formula: all T^2 scores are in memory at once.
Tensor naive(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t T = q.size(-2);
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(double(q.size(-1)));
  const Tensor past = tril(ones({T, T}, q.dtype())) > 0;
  return matmul(softmax(where(past, scores, -1e30), -1), v);
}
// [/naive]

/// MiB that forward and backward need at their peak, in addition to q, k and v [1, 1, T, 16].
double peak(const auto& attention, std::int64_t T) {
  const Tensor q = randn({1, 1, T, 16}, f32).requires_grad_(), k = randn({1, 1, T, 16}, f32);
  const std::int64_t before = memory_stats().live_bytes;
  reset_peak_memory();
  attention(q, k, k).sum().backward();
  return double(memory_stats().peak_bytes - before) / (1 << 20);
}

void memory() {
  set_num_threads(1);  // each thread needs some memory
  std::printf("Memory of one head at its peak, MiB\n    T  written out        fused\n");
  const auto fused = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, {.causal = true});
  };
  for (const std::int64_t T : {256, 512, 1024, 2048})
    std::printf("%5d %12.1f %13s\n", int(T), peak(naive, T), peak(fused, T) < 1 ? "below 1" : "more");
}

// [recall]
/// One of 8 values, N tokens of noise, a question: the answer is the value. Loss and share of right answers.
std::pair<Tensor, Tensor> recall(const nn::GPT& gpt, std::int64_t N, std::int64_t count) {
  const Tensor value = randint(0, kValues, {count, 1}),
               noise = randint(kValues, kValues + kNoise, {count, N});
  const Tensor logits = gpt(cat({value, noise, full({count, 1}, kQuestion, i64)}, 1)).select(1, -1);
  return {cross_entropy(logits, value.select(1, 0)),
          (logits.argmax(-1) == value.select(1, 0)).to(f64).mean()};
}
// [/recall]

Tensor trained_and_asked(nn::Positions positions, std::uint64_t seed) {
  manual_seed(seed);
  nn::GPTOptions options{.vocab = 17, .context = 1100, .layers = 1, .positions = positions};
  options.block.d_model = 16, options.block.heads = 1;
  const nn::GPT gpt(options);
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 0.25);  // 1 / sqrt(16)
  optim::Adam adam(gpt.parameters(), {.lr = 0.01});
  for (int step = 0; step < 200; ++step) {
    adam.zero_grad();
    recall(gpt, 1 + step * 7 % 16, 32).first.backward();
    adam.step();
  }
  const NoGrad guard;
  std::vector<Tensor> shares;
  for (const std::int64_t N : kDistances) shares.push_back(recall(gpt, N, 64).second);
  return stack(shares);
}

void far(const char* name, nn::Positions positions) {
  std::vector<Tensor> seeds;
  for (const std::uint64_t seed : {0U, 1U, 2U}) seeds.push_back(100 * trained_and_asked(positions, seed));
  const Tensor shares = stack(seeds), mean = shares.mean(0), least = shares.min(0);
  std::printf("%-11s", name);
  for (int i = 0; i < 4; ++i) std::printf("  %3.0f%% (%3.0f%%)", mean[i].item(), least[i].item());
  std::printf("\n");
}

// [gradient]
/// log10 of |dy/dx_0|, the gradient of the last of T outputs with respect to the first token.
double first_gradient(std::int64_t T, bool attention) {
  const std::int64_t C = 32;
  const Tensor x = randn({T, C}).requires_grad_(), w = randn({C, C}) / std::sqrt(double(C));
  Tensor h = zeros({C});
  if (attention) h = matmul(softmax(matmul(matmul(x, w), x[T - 1]) / std::sqrt(double(C)), -1), x);
  for (std::int64_t t = 0; t < T && !attention; ++t) h = tanh(linear(h, w) + x[t]);
  h.backward(randn({C}));
  return std::log10(x.grad()[0].norm().item());
}
// [/gradient]

void reaches(const char* name, bool attention) {
  std::printf("%-11s", name);
  for (const std::int64_t T : kDistances) {
    double sum = 0;
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U})
      manual_seed(seed), sum += first_gradient(T, attention);
    std::printf(" %12.1f", sum / 10);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  memory();
  std::printf(
      "\nRight answers after training across 1 to 16 tokens: mean of 3 seeds (lowest)\n"
      "positions            16           64          256         1024\n");
  far("none", nn::Positions::none);
  far("learned", nn::Positions::learned);
  far("rotary", nn::Positions::rotary);
  far("ALiBi", nn::Positions::alibi);
  std::printf("\nlog10 of the last output's gradient with respect to the first token, means of 10 seeds\n");
  std::printf("tokens               16           64          256         1024\n");
  reaches("recurrent", false);
  reaches("attention", true);
}
