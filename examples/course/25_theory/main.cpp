// Xiong et al. 2020 in numbers: Lemma 2, Theorem 1, appendix F.
// Its chapter: docs/course/25_theory/README.md

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr std::int64_t d = 64, n = 16, kClasses = 16;  // channels, positions

// [setting]
/// The paper's setting: every matrix d x d from N(0, 1/d); queries and keys 0, so attention averages.
struct Block {
  Tensor V = matrix(), O = matrix(), W1 = matrix(), W2 = matrix().requires_grad_();
  static Tensor matrix() { return randn({d, d}) / std::sqrt(double(d)); }
  Tensor attention(const Tensor& x) const { return linear(linear(x.mean(0, true), V), O).expand({n, d}); }
  Tensor ffn(const Tensor& x) const { return linear(relu(linear(x, W1)), W2); }
};
// [/setting]

/// The mean of f over seeds.
Tensor mean_of(int seeds, const auto& f) {
  std::vector<Tensor> rows;
  for (int seed = 0; seed < seeds; ++seed) {
    manual_seed(static_cast<std::uint64_t>(seed));
    rows.push_back(f());
  }
  return stack(rows).mean(0);
}

// [parts]
/// For each of 32 Pre-LN blocks: how much attention and the FFN add to |x|^2 / d, and |x|^2 / d after the
/// block.
Tensor parts() {
  const auto size = [](const Tensor& x) { return x.square().mean(); };
  Tensor x = randn({n, d});
  std::vector<Tensor> rows;
  for (int l = 1; l <= 32; ++l) {
    const Block block;
    const Tensor a = block.attention(layer_norm(x)), h = x + a, f = block.ffn(layer_norm(h));
    x = h + f;
    rows.push_back(stack({size(a), size(f), size(x)}).detach());
  }
  return stack(rows);
}
// [/parts]

enum class Loss { one, mean, same };  // at one position; mean over positions; with one target for all of them

// [top]
/// log |dL/dW2| of the last of L blocks.
Tensor top(bool pre, int L, Loss kind) {
  Tensor x = randn({n, d}), last;
  for (int l = 1; l <= L; ++l) {
    const Block block;
    const Tensor h = pre ? x + block.attention(layer_norm(x)) : layer_norm(x + block.attention(x));
    x = pre ? h + block.ffn(layer_norm(h)) : layer_norm(h + block.ffn(h));
    last = block.W2;
  }
  if (pre) x = layer_norm(x);
  const Tensor logits = linear(x, randn({kClasses, d}) / std::sqrt(double(d)));
  const Tensor targets = randint(0, kClasses, {n});
  const auto some = [&](const Tensor& t) { return kind == Loss::one ? t.slice(0, 0, 1) : t; };
  cross_entropy(some(logits), kind == Loss::same ? targets.slice(0, 0, 1).expand({n}) : some(targets))
      .backward();
  return last.grad().norm().log();
}
// [/top]

// [appendix]
/// The factors by which the length of a random gradient changes through the norm of LN(h + FFN(h)) and
/// through h + FFN(h).
Tensor way_down() {
  const Block block;
  Tensor h = layer_norm(randn({n, d})).requires_grad_();
  Tensor sum = h + block.ffn(h);
  sum.retain_grad();
  const Tensor g = randn({n, d});
  layer_norm(sum).backward(g);
  return stack({sum.grad().norm() / g.norm(), h.grad().norm() / sum.grad().norm()});
}
// [/appendix]

}  // namespace

int main() {
  const DefaultDType guard(f64);
  std::printf(
      "Lemma 2, Pre-LN, means of 20 seeds:\n\n"
      "   l   attention adds   FFN adds   |x|^2 / d   proved\n");
  const Tensor blocks = mean_of(20, parts);
  for (int l = 1; l <= 32; l *= 2)
    std::printf("%4d %16.2f %10.2f %11.1f   %.1f to %.1f\n", l, blocks[l - 1][0].item(),
                blocks[l - 1][1].item(), blocks[l - 1][2].item(), 1 + 0.5 * l, 1 + 1.5 * l);

  std::printf(
      "\nTheorem 1, |dL/dW2| of the last block, geometric means of 20 seeds:\n\n"
      "                         2 blocks   32 blocks   goes as        its bound goes as\n");
  for (const bool pre : {false, true})
    for (const auto& loss : {std::pair{Loss::one, "loss at one position"},
                             {Loss::mean, "mean over positions"},
                             {Loss::same, "mean, one target"}}) {
      const double two = mean_of(20, [&] { return top(pre, 2, loss.first); }).exp().item();
      const double deep = mean_of(20, [&] { return top(pre, 32, loss.first); }).exp().item();
      std::printf("%s%-22s %5.2f %11.2f   L^%+.2f        L^%s\n", pre ? "Pre   " : "Post  ", loss.second, two,
                  deep, std::log(deep / two) / std::log(16.0), pre ? "-0.5" : "0");
    }
  std::printf("d sqrt(ln d) is %.0f.\n", d * std::sqrt(std::log(double(d))));

  const Tensor down = mean_of(100, way_down);
  std::printf(
      "\nAppendix F, a gradient on its way down through LN(h + FFN(h)), mean of 100 draws:\n"
      "  through the norm %.2f, through h + FFN(h) %.2f, through both %.2f\n"
      "  sqrt(2/3), 31 times: %.4f\n",
      down[0].item(), down[1].item(), (down[0] * down[1]).item(), std::pow(2.0 / 3, 15.5));
}
