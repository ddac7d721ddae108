// How a claim becomes a verdict: figures, bands, intervals over seeds.
// Its chapter: docs/course/30_lab/README.md

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr std::int64_t C = 64;

// [measure]
/// |dL/dW2| of every block of a random stack in Xiong et al.'s setting, the loss at one position.
std::vector<double> gradients(const nn::Placement& placement, std::int64_t layers, std::uint64_t seed) {
  manual_seed(seed);
  const nn::TransformerEncoder stack(
      {.layers = layers, .placement = placement, .block = {.d_model = C, .heads = 1, .d_ff = C}});
  for (const auto& [name, w] : stack.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(C)));
  for (const nn::AnyBlock& block : stack.layers) {
    const NoGrad guard;
    block.parameter("self_attn.in_proj_weight").slice(0, 0, 2 * C) = 0.0;  // queries and keys
  }
  const Tensor x = stack(randn({1, 8, C}));
  cross_entropy(linear(x.select(1, 0), randn({16, C}) / std::sqrt(double(C))), randint(0, 16, {1}))
      .backward();
  std::vector<double> norms;
  for (const nn::AnyBlock& block : stack.layers)
    norms.push_back(block.parameter("linear2.weight").grad().norm().item());
  return norms;
}
// [/measure]

struct Claim {
  const char* sentence;
  double low, high;                 // the band, written down before the run
  double (*figure)(std::uint64_t);  // one number per seed
};

double spread(const std::vector<double>& g) {
  const auto [least, most] = std::minmax_element(g.begin(), g.end());
  return std::log(*most / *least);
}

// [claims]
const Claim kClaims[] = {
    {"Pre-LN's gradient at the top falls like 1/sqrt(L): exponent from 2 to 32 blocks", -0.6, -0.4,
     [](std::uint64_t seed) {
       const double few = gradients(nn::pre_ln(), 2, seed).back(),
                    many = gradients(nn::pre_ln(), 32, seed).back();
       return std::log(many / few) / std::log(16.0);
     }},
    {"Post-LN's gradients vanish like (2/3)^((L-l)/2): share of that slope, 32 blocks", 0.8, 1.2,
     [](std::uint64_t seed) {
       const auto g = gradients(nn::post_ln(), 32, seed);
       return std::log(g.front() / g.back()) / (15.5 * std::log(2.0 / 3));
     }},
    {"Pre-LN's gradients differ less between layers: ln(largest/least), Pre minus Post", -99, 0,
     [](std::uint64_t seed) {
       return spread(gradients(nn::pre_ln(), 32, seed)) - spread(gradients(nn::post_ln(), 32, seed));
     }}};
// [/claims]

// [verdict]
struct Interval {
  double low, high;
};

/// Student's interval of level 0.95 for the mean over seeds; t is its factor for this number of seeds.
Interval interval(const std::vector<double>& figures, double t) {
  const Tensor x = from_vector(figures);
  const double half = t * std::sqrt(x.var().item() / double(figures.size()));
  return {x.mean().item() - half, x.mean().item() + half};
}

const char* verdict(const Interval& i, double low, double high) {
  if (i.low >= low && i.high <= high) return "holds";
  return i.high < low || i.low > high ? "false" : "unclear";
}
// [/verdict]

}  // namespace

int main() {
  const DefaultDType guard(f64);
  for (const Claim& claim : kClaims) {
    std::printf("%s\n", claim.sentence);
    std::vector<double> figures;
    for (const auto& [seeds, t] : {std::pair{3U, 4.303}, {10U, 2.262}, {30U, 2.045}}) {
      while (figures.size() < seeds) figures.push_back(claim.figure(figures.size()));
      const Interval i = interval(figures, t);
      std::printf("  %2u seeds   %5.2f to %5.2f   %s\n", seeds, i.low, i.high,
                  verdict(i, claim.low, claim.high));
    }
  }
}
