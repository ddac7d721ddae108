// Seeds, pairs, intervals, and twenty comparisons in which there is no difference to find.
// Its chapter: docs/course/10_experiments/README.md
//   interval for the mean of n numbers: mean +- t s / sqrt(n), s their standard deviation; n = 5: t = 2.776

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [run]
/// How far a small net is from the true curve after 150 steps. The seed determines data and initial weights.
double run(unsigned seed, double rate) {
  manual_seed(seed);
  const nn::Linear in(1, 16), out(16, 1);
  const Tensor x = rand({10, 20, 1}) * 6 - 3, y = sin(2 * x) + 0.5 * x + 0.1 * randn(x.shape());
  optim::SGD opt({in.weight, in.bias, out.weight, out.bias}, {.lr = rate, .momentum = 0.5});
  const auto net = [&](const Tensor& z) { return out(tanh(in(z))); };
  for (int step = 0; step < 150; ++step) {
    opt.zero_grad();
    mse_loss(net(x[step % 10]), y[step % 10]).backward();
    opt.step();
  }
  const NoGrad guard;
  const Tensor places = linspace(-3, 3, 61).unsqueeze(1);
  return mse_loss(net(places), sin(2 * places) + 0.5 * places).item();
}
// [/run]

double percent(const Tensor& truths) { return 100 * truths.to(f64).mean().item(); }

// [interval]
/// Which rows of x [experiments, n] have an interval mean +- t s / sqrt(n) that contains the truth.
Tensor covers(const Tensor& x, double t, double truth) {
  const Tensor half = t * x.std({-1}) / std::sqrt(double(x.size(-1)));
  return (x.mean(-1) - truth).abs() <= half;
}
// [/interval]

/// How often the rate with the larger mean, a, looks better, and how often a 95% interval excludes 0:
/// n seeds for each rate (t with 2 n - 2 degrees of freedom), or the same n for both (t_pairs with n - 1).
void verdicts(const Tensor& a, const Tensor& b) {
  std::printf(
      "\n20,000 experiments with    the worse rate looks better    a 95%% interval excludes 0\n"
      "                           other seeds   the same seeds   other seeds   the same seeds\n");
  for (const auto& [n, t, t_pairs] : {std::tuple(1, 0.0, 0.0),
                                      {5, 2.306, 2.776},
                                      {10, 2.101, 2.262},
                                      {28, 2.005, 2.052},
                                      {80, 1.975, 1.990}}) {
    const Tensor seeds = randint(0, a.numel(), {20'000, n}), others = randint(0, b.numel(), {20'000, n});
    const Tensor x = a[seeds], y = b[seeds], z = b[others];
    std::printf("  n = %2d runs of each %16.1f%% %15.1f%%", n, percent(x.mean(1) < z.mean(1)),
                percent(x.mean(1) < y.mean(1)));
    if (n > 1) {
      const Tensor half = t * ((x.var({1}) + z.var({1})) / n).sqrt();
      std::printf(" %12.0f%% %15.0f%%", percent((x.mean(1) - z.mean(1)).abs() > half),
                  percent(!covers(x - y, t_pairs, 0)));
    }
    std::printf("\n");
  }
}

void intervals(const Tensor& a) {
  const Tensor normal = randn({10'000, 5}), ours = a[randint(0, a.numel(), {10'000, 5})];
  std::printf("\nintervals of 5 seeds that hold the true mean   normal numbers   our losses\n");
  const auto row = [&](const char* name, double t) {
    std::printf("  %-40s %15.0f%% %11.0f%%\n", name, percent(covers(normal, t, 0)),
                percent(covers(ours, t, a.mean().item())));
  };
  row("mean +- 1 s / sqrt(5), one standard error", 1);
  row("mean +- 2 s / sqrt(5)", 2);
  row("mean +- 2.776 s / sqrt(5), 95% t interval", 2.776);
}

// [many]
/// Twenty comparisons of two equal methods: in how many of the sets does at least one interval miss 0?
double false_alarms(const Tensor& differences, double t) {  // [sets, 20, seeds]
  return percent((!covers(differences, t, 0)).any({1}));
}
// [/many]

}  // namespace

int main() {
  const DefaultDType guard(f64);
  std::vector<double> losses[2];
  for (unsigned seed = 0; seed < 200; ++seed)
    for (const int which : {0, 1}) losses[which].push_back(run(seed, which == 0 ? 0.05 : 0.06));
  const Tensor a = from_vector(losses[0]), b = from_vector(losses[1]);
  std::printf("200 seeds: rate 0.05 ends at %.4f, s = %.4f; rate 0.06 at %.4f, s = %.4f.\n", a.mean().item(),
              a.std().item(), b.mean().item(), b.std().item());
  std::printf("Difference %.4f; s of a difference is %.4f between two seeds, %.4f within one.\n",
              (a - b).mean().item(), std::hypot(a.std().item(), b.std().item()), (a - b).std().item());
  manual_seed(0);
  verdicts(a, b);
  manual_seed(0);
  intervals(a);
  const Tensor nothing = randn({2'000, 20, 5});
  std::printf(
      "\n20 comparisons of equal methods, 5 seeds each: at least one 95%% interval misses 0 in %.0f%% of "
      "sets;\n"
      "with 99.75%% intervals (t = 6.758) in %.0f%%.\n",
      false_alarms(nothing, 2.776), false_alarms(nothing, 6.758));
  std::printf("The best of 5 runs at rate 0.05 has %.4f in the mean; their mean is %.4f.\n",
              a.reshape({-1, 5}).min(1).mean().item(), a.mean().item());
}
