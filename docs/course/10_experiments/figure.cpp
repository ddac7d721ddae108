// The picture of chapter 10: intervals of the difference of two rates, from 3, 10 and 30 runs of each.

#include <cmath>
#include <tuple>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr unsigned kMost = 30;

/// As in the chapter's program.
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

/// The losses at a rate, one for each seed from `first` on.
Tensor runs(unsigned first, double rate) {
  std::vector<double> losses;
  for (unsigned seed = first; seed < first + kMost; ++seed) losses.push_back(run(seed, rate));
  return from_vector(losses);
}

void add(kit::Series& series, double x, double mean, double half) {
  series.x.push_back(x);
  series.y.push_back(mean);
  series.low.push_back(mean - half);
  series.high.push_back(mean + half);
}

kit::LineChart draw() {
  const Tensor a = runs(0, 0.05), b = runs(0, 0.06), other = runs(kMost, 0.06);
  const auto series = [](const char* name, int style) {
    return kit::Series{.name = name, .spread = kit::Spread::error_bars, .line = false, .style = style};
  };
  kit::Series apart = series("other seeds", 1), paired = series("the same seeds", 0);
  // Student's t for 95%: with 2 n - 2 degrees of freedom, and with n - 1 for pairs
  for (const auto& [n, t, t_pairs] : {std::tuple(3, 2.776, 4.303), {10, 2.101, 2.262}, {30, 2.002, 2.045}}) {
    const Tensor x = a.slice(0, 0, n), y = b.slice(0, 0, n), z = other.slice(0, 0, n);
    const Tensor d = x - y;
    add(apart, n / 1.07, (x.mean() - z.mean()).item(), t * std::sqrt((x.var() + z.var()).item() / n));
    add(paired, n * 1.07, d.mean().item(), t_pairs * std::sqrt(d.var().item() / n));
  }
  return {.title = "Is rate 0.06 better than 0.05?",
          .description = "Intervals from the same seeds are shorter and exclude 0 sooner.",
          .x_label = "runs of each rate",
          .y_label = "loss at 0.05 minus loss at 0.06 (0: no difference)",
          .x_axis = kit::AxisKind::log,
          .x_low = 2,
          .x_high = 45,
          .x_ticks = {3, 10, 30},
          .series = {apart, paired},
          .references = {{.at = 0}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
