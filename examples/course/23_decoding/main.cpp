// The probabilities a token is drawn from, a million texts with their exact probabilities, and beams.
// Its chapter: docs/course/23_decoding/README.md
#include <cmath>
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;
namespace {
// [sampled]
/// The probabilities [V] from which the next token is drawn, given its logits [V].
Tensor sampled(const Tensor& logits, const nn::GenerateOptions& o) {
  const std::int64_t V = logits.numel(), k = o.top_k > 0 ? o.top_k : V;
  const auto [z, tokens] = topk(logits / o.temperature, k);     // the likeliest first
  const Tensor p = softmax(z, 0), likelier = cumsum(p, 0) - p;  // the sum of all before it
  const Tensor kept = masked_fill(p, likelier >= o.top_p, 0.0);
  return scatter(zeros({V}), 0, tokens, kept / kept.sum());
}
// [/sampled]

void one_token(const Tensor& z) {
  double off = 0;
  const auto row = [&](const char* name, const Tensor& logits, const nn::GenerateOptions& o) {
    const Tensor p = sampled(logits, o), drawn = nn::choose_tokens(logits.expand({200'000, 5}), {}, o);
    std::printf("  %-31s", name);
    for (int i = 0; i < 5; ++i) {
      std::printf(" %.3f", p[i].item());
      off = std::max(off, std::abs((drawn == i).to(f64).mean().item() - p[i].item()));
    }
    std::printf("\n");
  };
  std::printf("Five tokens, and the probabilities from which one is drawn:\n");
  row("unchanged", z, {});
  row("temperature 0.5", z, {.temperature = 0.5});
  row("top_k 2", z, {.top_k = 2});
  row("top_p 0.8", z, {.top_p = 0.8});
  row("top_k 3, then top_p 0.8", z, {.top_k = 3, .top_p = 0.8});
  row("temperature 2, then top_p 0.8", z, {.temperature = 2, .top_p = 0.8});
  row("top_p 0.8, then temperature 2", log(sampled(z, {.top_p = 0.8})), {.temperature = 2});
  row("temperature 0.01, two are equal", tensor({2.0, 2.0, 1.0, 0.0, 0.0}), {.temperature = 0.01});
  std::printf("choose_tokens, 200,000 draws each: all within 0.005: %s\n", off < 0.005 ? "yes" : "no");
  std::printf("The first token with a repetition penalty of 2, and 0, 1, 5 added to all logits:");
  for (const double c : {0.0, 1.0, 5.0}) {
    const Tensor first = z.slice(0, 0, 1) + c, penalized = where(first > 0.0, first / 2, first * 2);
    std::printf(" %.3f", softmax(cat({penalized, z.slice(0, 1) + c}), 0)[0].item());
  }
}

// [texts]
/// log p of all V^T texts of T letters after an a: [V^(T - 1), V], the last letter along the last axis.
Tensor texts(const Tensor& log_p, int T) {
  Tensor all = log_p.slice(0, 0, 1);  // log_p [V, V]: row i has the letters after letter i
  for (int t = 1; t < T; ++t) all = (all.unsqueeze(-1) + log_p).reshape({-1, log_p.size(1)});
  return all;
}
// [/texts]

void many_texts(const Tensor& log_p) {
  const Tensor all = texts(log_p, 10).reshape({-1}), p = exp(all), nats = -all / 10;
  std::printf("\n\n%d texts of ten letters, p = %.6f in all. Beams find\n", int(all.numel()), p.sum().item());
  double greedy = 0;
  for (const int beams : {1, 2, 3, 5, 64}) {
    const auto step = [&](const Tensor& ids, const Tensor&) { return log_p[ids.select(1, -1)]; };
    const auto found = nn::beam_search(tensor({0}), {.beams = beams, .count = 10, .length_penalty = 0}, step);
    if (beams == 1) greedy = found[0].score;
    std::string text;
    for (const std::int64_t letter : found[0].tokens) text += static_cast<char>('a' + letter);
    std::printf("  %2d  %s  %.6f\n", beams, text.c_str(), std::exp(found[0].score));
  }
  // [viterbi]
  Tensor best = log_p[0];  // of the likeliest text that ends with each letter
  for (int t = 1; t < 10; ++t) best = (best.unsqueeze(1) + log_p).max(0);
  // [/viterbi]
  std::printf("Viterbi: %.6f; the largest of all: %.6f\n\n", exp(best.max()).item(), p.max().item());
  std::printf("Texts drawn with                   nats   greedy's  likeliest\n");
  const Tensor i = (all - greedy).abs().argmin(), j = all.argmax();  // the numbers of these two texts
  const auto row = [&](const char* name, const Tensor& q) {
    std::printf("  %-31s %.3f   %.4f   %.4f\n", name, (q * nats).sum().item(), q[i].item(), q[j].item());
  };
  const auto by_token = [&](const nn::GenerateOptions& o) {
    std::vector<Tensor> rows;
    for (const Tensor& logits : unbind(log_p)) rows.push_back(sampled(logits, o));
    return exp(texts(log(stack(rows)), 10)).reshape({-1});
  };
  row("no change", p);
  row("top_p 0.8", by_token({.top_p = 0.8}));
  row("temperature 0.5", by_token({.temperature = 0.5}));
  row("temperature 0.5 of whole texts", softmax(all / 0.5, 0));
  row("temperature 0.01", by_token({.temperature = 0.01}));
  row("temperature 0.01 of whole texts", softmax(all / 0.01, 0));
  std::printf("%.1f%% of texts drawn without a change are as likely as greedy's or likelier\n",
              100 * (p * (all > greedy - 1e-9).to(f64)).sum().item());
}

void lengths() {
  const Tensor early = log(cat({tensor({0.6}), full({8}, 0.045), tensor({0.04})}));  // nine letters, the end
  const Tensor late = log(cat({full({9}, 0.1 / 9), tensor({0.9})}));                 // after eight letters
  std::printf("\nTexts with an end: %.0f%% have eight letters\n", 100 * std::pow(0.96, 8) * 0.9);
  for (const auto& [beams, alpha] : {std::pair{9, 0.0}, {10, 0.0}, {10, 0.3}, {10, 0.6}}) {
    const nn::BeamOptions options{.beams = beams, .count = 20, .stop = {9}, .length_penalty = alpha};
    const auto step = [&, t = 0](const Tensor& ids, const Tensor&) mutable {
      return (t++ < 8 ? early : late).expand({ids.size(0), 10});
    };
    const auto found = nn::beam_search(tensor({0}), options, step);
    std::printf("  %2d beams, length_penalty %.1f: %d letters, score %.3f\n", beams, alpha,
                int(found[0].tokens.size()) - 1, found[0].score);
  }
}
}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  one_token(log(tensor({0.4, 0.3, 0.15, 0.1, 0.05})));
  const Tensor a = tensor({0.40, 0.45, 0.05, 0.10}), b = tensor({0.30, 0.15, 0.20, 0.35});  // after an a, a b
  const Tensor c = tensor({0.25, 0.05, 0.55, 0.15}), d = tensor({0.50, 0.05, 0.40, 0.05});
  many_texts(log(stack({a, b, c, d})));
  lengths();
}
