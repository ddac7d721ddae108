// A study from plan to verdict: a row of the ledger is tested again.
// Its chapter: docs/course/39_capstone/README.md
// Claim 8: Pre-LN's gradient norms differ less between layers than Post-LN's. Band, before the run: <= 0.

#include <cmath>
#include <cstdio>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr std::int64_t C = 64, kLayers = 32;
constexpr std::uint64_t kGroup = 8, kGroups = 13;  // draws per group, and groups: 104 pairs
constexpr std::uint64_t kFirst = 6000;             // the first of the seeds that count

/// Xiong et al.'s weights: matrices N(0, 1/d), biases 0, queries and keys 0.
nn::PreLNBlock random_block() {
  const nn::PreLNBlock block({.d_model = C, .heads = 1, .d_ff = C});
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm")) nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

// [measure]
/// One run of the plan: ln |dL/dW| of both matrices of the FFN, [layers, 2], for one draw of weights and
/// input.
Tensor measure(bool pre, std::uint64_t seed) {
  manual_seed(seed);
  std::vector<nn::PreLNBlock> blocks;
  Tensor x = randn({1, 8, C});
  for (std::int64_t l = 0; l < kLayers; ++l) {
    const nn::PreLNBlock& b = blocks.emplace_back(random_block());
    x = pre ? x + b.self_attn(b.norm1(x)) : b.norm1(x + b.self_attn(x));
    x = pre ? x + b.ffn(b.norm2(x)) : b.norm2(x + b.ffn(x));
  }
  const Tensor top = (pre ? layer_norm(x) : x).select(1, 0);  // the loss is at one position
  cross_entropy(linear(top, randn({16, C}) / std::sqrt(double(C))), randint(0, 16, {1})).backward();
  std::vector<Tensor> rows;
  for (const nn::PreLNBlock& b : blocks)
    rows.push_back(stack({b.ffn.linear1.weight.grad().norm(), b.ffn.linear2.weight.grad().norm()}).log());
  return stack(rows);
}
// [/measure]

/// Runs first, first + 1, ... of the plan: [count, 2 placements, layers, 2].
Tensor runs(std::uint64_t first, std::uint64_t count) {
  std::vector<Tensor> all;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    all.push_back(stack({measure(true, seed), measure(false, seed)}));
  return stack(all);
}

// [figure]
/// ln(largest / smallest over the layers), mean of both matrices, Pre-LN minus Post-LN: one figure per pair.
Tensor figures(const Tensor& logs) {  // [pairs, 2, layers, 2]
  const Tensor spread = (logs.max(2) - logs.min(2)).mean(-1);
  return spread.select(1, 0) - spread.select(1, 1);
}

/// The same after averaging the logarithms over the draws of a group.
Tensor of_groups(const Tensor& logs) {
  return figures(logs.reshape({-1, std::int64_t(kGroup), 2, kLayers, logs.size(-1)}).mean(1));
}
// [/figure]

// [verdict]
void judge(const char* name, const Tensor& x, double t) {
  const double mean = x.mean().item(), half = t * x.std().item() / std::sqrt(double(x.numel()));
  const char* verdict = mean + half <= 0 ? "holds" : mean - half > 0 ? "false" : "unclear";
  std::printf("%-24s %3d %8.2f (%.2f to %.2f)   %s\n", name, int(x.numel()), mean, mean - half, mean + half,
              verdict);
}
// [/verdict]

void print_layers(const char* name, const Tensor& means) {  // [layers]
  std::printf("%-10s", name);
  for (const std::int64_t l : {1, 2, 4, 8, 16, 32}) std::printf(" %7.2f", means[l - 1].exp().item());
  std::printf("\n");
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  const Tensor pilot = runs(0, 2 * kGroup);
  const double s1 = figures(pilot).std().item(), needed = std::pow(2.28 * s1 / 0.15, 2);
  std::printf("Pilot, seeds 0 to 15: s of one draw is %.2f. A half width of 0.15 needs %.0f pairs.\n", s1,
              std::ceil(needed));
  const Tensor averaged = of_groups(pilot);
  std::printf("Its figures: each draw %.2f, means of 8 draws first %.2f and %.2f\n",
              figures(pilot).mean().item(), averaged[0].item(), averaged[1].item());

  // [parts]
  const std::uint64_t half = kGroup * kGroups / 2;  // two machines, each half of the seeds
  const Tensor part1 = runs(kFirst, half), part2 = runs(kFirst + half, half), merged = cat({part1, part2});
  // [/parts]
  const bool same = (measure(false, kFirst + half) == part2[0][1]).all();
  std::printf("Seeds 6000 to 6103 in two parts; run 6052 alone gives the same bits: %s\n\n",
              same ? "yes" : "no");

  std::printf("Pre-LN minus Post-LN       n   figure (97.5%% interval)   at most 0\n");
  judge("each draw, as the row", figures(merged), 2.275);
  judge("means of 8 draws first", of_groups(merged), 2.560);
  const auto alone = [&](int w) { return of_groups(merged.slice(-1, w, w + 1)).mean().item(); };
  std::printf("The second figure is the mean of %.2f for W1 and %.2f for W2; each alone has no verdict.\n",
              alone(0), alone(1));

  std::printf(
      "\n|dL/dW2|, geometric means of 104 draws, in block\n                 1       2       4       8      "
      "16 "
      "     32\n");
  const Tensor means = merged.mean(0).select(-1, 1);
  print_layers("Pre-LN", means[0]);
  print_layers("Post-LN", means[1]);
}
