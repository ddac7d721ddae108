// A model learns with a wrong gradient too: layer norm with a backward to be chosen.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [backwards]
Tensor sigma(const Tensor& x) { return ((x - x.mean(-1, true)).square().mean(-1, true) + 1e-5).sqrt(); }
Tensor right(const Tensor& x, const Tensor& dy) {
  const Tensor xhat = layer_norm(x);
  return (dy - dy.mean(-1, true) - xhat * (dy * xhat).mean(-1, true)) / sigma(x);
}
Tensor constant_sigma(const Tensor& x, const Tensor& dy) { return (dy - dy.mean(-1, true)) / sigma(x); }
Tensor printed(const Tensor& x, const Tensor& dy) {
  return (dy - x.mean(-1, true) * dy.sum(-1, true)) / sigma(x);
}
// [/backwards]

using Backward = Tensor (*)(const Tensor& x, const Tensor& dy);
const std::pair<const char*, Backward> kRows[] = {
    {"(delta_ij - 1/d - xhat_i xhat_j / d) / sigma", right},
    {"(delta_ij - 1/d) / sigma                    ", constant_sigma},
    {"(delta_ij - mu_j) / sigma                   ", printed}};

// [norm]
/// Layer norm with a backward to be chosen (chapter 5 says how record works).
Tensor norm_with(Backward backward, const Tensor& x) {
  return record("norm_with", layer_norm(x.detach()).array(), {&x},
                [=, x = x.array()](const Array& dy, Needs) -> Grads {
                  return {backward(Tensor(x), Tensor(dy)).array()};
                });
}
// [/norm]

/// Column j: how y changes with x_j.
Tensor measured_jacobian(const Tensor& x) {
  const double h = 1e-6;
  std::vector<Tensor> columns;
  for (const Tensor& step : split(eye(x.numel()) * h, 1))
    columns.push_back((layer_norm(x + step[0]) - layer_norm(x - step[0])) / (2 * h));
  return stack(columns, 1);
}

void checks() {
  const Tensor x = tensor({0.9, -1.3, 0.4, 2.1, -0.2, 0.5}), measured = measured_jacobian(x);
  std::printf(
      "Three Jacobians: the largest error of 36 entries, by central differences, and the mean cosine\n"
      "between its dx and the right one:\n"
      "                                                  error   d = 4  d = 16  d = 64 d = 256\n");
  for (const auto& [name, backward] : kRows) {
    const Tensor J = backward(x.expand({6, 6}), eye(6));  // row i is dx for dy = e_i
    const double worst = (J - measured).abs().max().item();
    worst < 1e-8 ? std::printf("  %s   < 1e-8", name) : std::printf("  %s   %6.2f", name, worst);
    for (const int d : {4, 16, 64, 256}) {
      const Tensor tokens = randn({2000, d}), dy = randn({2000, d});
      std::printf("%8.2f", cosine_similarity(backward(tokens, dy), right(tokens, dy), -1).mean().item());
    }
    std::printf("\n");
  }
}

// [training]
struct Run {
  double before = 0, after = 0, mean = 0;  // the loss; log10 of the largest |mean| of a token at the end
};

/// A small net with one norm, fitted to a curve: in each step all weights go a little against their
/// gradients.
Run train(Backward backward, std::uint64_t seed) {
  manual_seed(seed);
  const Tensor x = randn({256, 8}), target = sin(x).sum(-1, true);
  Tensor w1 = randn({8, 32}) / std::sqrt(8.0), w2 = randn({32, 1}) / std::sqrt(32.0);
  Run run;
  for (int step = 0; step <= 1000; ++step) {
    w1.requires_grad_(), w2.requires_grad_();
    const Tensor tokens = matmul(x, w1);
    const Tensor loss = mse_loss(matmul(tanh(norm_with(backward, tokens)), w2), target);
    (step == 0 ? run.before : run.after) = loss.item();
    run.mean = std::log10(tokens.mean(-1).abs().max().item());
    loss.backward();
    w1 = w1.detach() - 0.1 * w1.grad(), w2 = w2.detach() - 0.1 * w2.grad();
  }
  return run;
}
// [/training]

void training() {
  std::printf(
      "\nA small net trained with each, mean of 5 seeds: the loss before and after 1000 steps (in how many\n"
      "it is above the first row's), and the largest mean of a token then, as a power of 10:\n");
  std::vector<double> first;
  for (const auto& [name, backward] : kRows) {
    Run sum;
    int above = 0;
    for (std::size_t seed = 0; seed < 5; ++seed) {
      const Run run = train(backward, seed);
      if (backward == right) first.push_back(run.after);
      above += run.after > first[seed];
      sum.before += run.before / 5, sum.after += run.after / 5, sum.mean += run.mean / 5;
    }
    std::printf("  %s %6.2f %8.2f (%d)     10^%d\n", name, sum.before, sum.after, above,
                static_cast<int>(std::lround(sum.mean)));
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  checks();
  training();
}
