// A model can learn even with a wrong gradient.
// Its chapter: docs/course/14_wrong_gradients/README.md
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
/// Layer norm with a given backward (chapter 5 explains record).
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

double mean_cosine(Backward backward, int d, double mean = 0) {  // with the right dx, for tokens of that mean
  const Tensor tokens = randn({2000, d}) + mean, dy = randn({2000, d});
  return cosine_similarity(backward(tokens, dy), right(tokens, dy), -1).mean().item();
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
    for (const int d : {4, 16, 64, 256}) std::printf("%8.2f", mean_cosine(backward, d));
    std::printf("\n");
  }
  std::printf("  The last row, d = 256, for tokens of mean 0, 0.3, 1 and 3:");
  for (const double mean : {0.0, 0.3, 1.0, 3.0}) std::printf("%8.2f", mean_cosine(printed, 256, mean));
}

// [training]
/// A small net with one norm, fitted to a curve: each step moves all weights a little against their
/// gradients. Returns the loss before and after, and log10 of the largest |mean| of a token at the end.
Tensor train(Backward backward, std::uint64_t seed) {
  manual_seed(seed);
  const Tensor x = randn({256, 8}), target = sin(x).sum(-1, true);
  Tensor w1 = randn({8, 32}) / std::sqrt(8.0), w2 = randn({32, 1}) / std::sqrt(32.0);
  std::vector<double> losses;
  for (int step = 0; step <= 1000; ++step) {
    w1.requires_grad_(), w2.requires_grad_();
    const Tensor loss = mse_loss(matmul(tanh(norm_with(backward, matmul(x, w1))), w2), target);
    losses.push_back(loss.item());
    loss.backward();
    w1 = w1.detach() - 0.1 * w1.grad(), w2 = w2.detach() - 0.1 * w2.grad();
  }
  const double mean = matmul(x, w1).mean(-1).abs().max().item();
  return tensor({losses.front(), losses.back(), std::log10(mean)});
}
// [/training]

void training() {
  std::printf(
      "\n\nA small net trained with each, 1000 steps, 20 seeds: the median loss before and after; how often\n"
      "it ends above the first row, and above 0.1; the largest mean of a token, as a power of 10:\n"
      "                                               before  after   above  > 0.1   median  > 10^15\n");
  Tensor first;  // the first row's losses
  for (const auto& [name, backward] : kRows) {
    std::vector<Tensor> seeds;
    for (std::uint64_t seed = 0; seed < 20; ++seed) seeds.push_back(train(backward, seed));
    const Tensor all = stack(seeds, 1), median = sort(all, 1).first.slice(1, 9, 11).mean(1);
    if (backward == right) first = all[1];
    // NaN is above as well: a loss can end there.
    const auto above = [](const Tensor& below) { return 20 - static_cast<int>(below.to(f64).sum().item()); };
    std::printf("  %s %6.2f %6.2f %7d %6d     10^%d %8d\n", name, median[0].item(), median[1].item(),
                above(all[1] <= first), above(all[1] <= 0.1), static_cast<int>(std::lround(median[2].item())),
                above(all[2] <= 15.0));
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  checks();
  training();
}
