// Overfitting, early stopping, the luck of a choice, leaks between splits, and what weight decay does.
// Its chapter: docs/course/27_generalization/README.md
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "gradus/gradus.h"
using namespace gradus;
namespace {
void row(const std::string& label, const Tensor& values) {
  std::printf("%-30s", label.c_str());
  for (const double value : values.to_vector<double>()) std::printf(" %7.3f", value);
  std::printf("\n");
}
// [fit]
/// Losses [2, 3] on training, validation and test set: of the last weights, and where validation was lowest.
Tensor fit(std::uint64_t seed, double decay) {
  manual_seed(seed);
  const Tensor x = randn({2140, 4}), y = sin(2 * x.slice(1, 0, 1)) + x.slice(1, 1, 2) + randn({2140, 1}) / 2;
  const nn::Sequential net(nn::Linear(4, 64), tanh, nn::Linear(64, 64), tanh, nn::Linear(64, 1));
  std::vector<Tensor> matrices, rest;
  for (const auto& [name, w] : net.named_parameters()) (w.dim() > 1 ? matrices : rest).push_back(w);
  optim::AdamW opt({{matrices, 0.01, decay}, {rest, 0.01, 0}});
  const auto loss = [&](int i, int end) { return mse_loss(net(x.slice(0, i, end)), y.slice(0, i, end)); };
  const auto losses = [&] { return stack({loss(0, 40), loss(40, 140), loss(140, 2140)}).detach(); };
  StateDict best;
  double least = INFINITY;
  for (int step = 1; step <= 300; ++step) {
    opt.zero_grad();
    loss(0, 40).backward();
    opt.step();
    const double now = step % 10 == 0 ? loss(40, 140).item() : INFINITY;
    if (now < least) least = now, best = net.state_dict().clone();  // a copy: the state is the net's memory
  }
  const Tensor last = losses();
  net.load_state_dict(best);
  return stack({last, losses()});
}
// [/fit]
// [choice]
/// Of k models, whose accuracies are near 0.7, the one that is best on n examples: how good it looks there,
/// how good it is, and how good the truly best one is. Means of 200 repetitions.
Tensor best_of(std::int64_t k, std::int64_t n) {
  Tensor sum = zeros({3});
  for (int repetition = 0; repetition < 200; ++repetition) {
    const Tensor truth = 0.7 + 0.02 * randn({k}), seen = (rand({k, n}) < truth.unsqueeze(1)).to(f64).mean(1);
    sum += stack({seen.max(), truth[seen.argmax().item<std::int64_t>()], truth.max()});
  }
  return sum / 200;
}
// [/choice]
// [leak]
/// A table learns which letter follows four. The share of other windows whose last letter it knows.
Tensor known(const std::string& text, const Tensor& train, const Tensor& others) {
  std::map<std::string, char> next;
  for (const auto s : train.to_vector<std::size_t>())
    for (std::size_t i = s + 4; i < s + 16; ++i) next[text.substr(i - 4, 4)] = text[i];
  double right = 0;
  for (const auto s : others.to_vector<std::size_t>()) right += next[text.substr(s + 11, 4)] == text[s + 15];
  return tensor({right / double(others.numel())});
}
// [/leak]
// [noise]
/// The means of weights that were 1, after 1000 steps on gradients of pure noise, of four sizes.
template <class Optimizer>
Tensor left() {
  const Tensor w = ones({4, 1000}).requires_grad_(), size = tensor({{0.1}, {1.0}, {10.0}, {100.0}});
  Optimizer opt({w}, {.lr = 0.001, .weight_decay = 1});
  for (int step = 0; step < 1000; ++step) w.set_grad(size * randn({4, 1000})), opt.step();
  return w.detach().mean(1);
}
// [/noise]
// [norm]
/// A matrix before a norm, trained on noise: the means of its length and of a step's angle over 1000 steps,
/// and both by their formulas.
Tensor turns(double start, double rate, double decay) {
  const Tensor w = (start * randn({8, 16})).requires_grad_(), mean = zeros({2});
  optim::AdamW opt({w}, {.lr = rate, .weight_decay = decay});
  for (int step = 0; step < 2000; ++step) {
    const Tensor before = w.detach().clone();
    opt.zero_grad();
    mse_loss(layer_norm(matmul(randn({16, 8}), w), {}, {}, 0), randn({16, 16})).backward();
    opt.step();
    if (step >= 1000) mean += stack({before.norm(), (w.detach() - before).norm() / before.norm()}) / 1000;
  }
  return cat({mean, tensor({std::sqrt(64 * rate / decay), std::sqrt(rate * decay * 0.2 / 1.9)})});
}
// [/norm]
}  // namespace
int main() {
  const DefaultDType guard(f64);
  std::printf("%-30s   train   valid    test   train   valid    test\n", "Losses, means of 5 seeds");
  std::map<int, Tensor> runs;  // by decay: [seed, last or lowest, set]
  for (const int d : {0, 1, 3, 10}) {
    runs[d] = stack({fit(0, d), fit(1, d), fit(2, d), fit(3, d), fit(4, d)});
    row("decay " + std::to_string(d), runs[d].mean(0).flatten());
  }
  std::printf("\nTest losses, seed by seed\n");
  for (const int d : {0, 3})
    for (const int i : {0, 1})
      row("decay " + std::to_string(d) + (i ? ", lowest" : ", last"), runs[d].select(1, i).select(1, 2));
  std::printf("\n%-30s   looks      is    best\n", "The best of k models");
  for (const auto& [k, n] : {std::pair{1, 100}, {10, 100}, {100, 100}, {100, 1000}})
    row("k = " + std::to_string(k) + ", tried on " + std::to_string(n), best_of(k, n));
  std::string text;
  for (const int letter : randint(0, 26, {5000}).to_vector<int>()) text += char('a' + letter);
  const auto [train, others] = data::random_split(4985, 0.8);
  std::printf("\nThe last letter of a window is guessed right, in random text\n");
  row("windows split at random", known(text, train, others));
  row("text split, then windows", known(text, arange(3985), arange(4000, 4985)));
  std::printf("\n%-30s     0.1       1      10     100\n", "Gradients of the size");
  row("Adam, decay 1 in the gradient", left<optim::Adam>());
  row("AdamW, decay 1 on the weight", left<optim::AdamW>());
  std::printf("\n%46s%16s\n%-30s     |w|   angle     |w|   angle\n", "measured", "formulas",
              "Start, rate, decay");
  row("1, 0.01, 1", turns(1, 0.01, 1));
  row("9, 0.01, 1", turns(9, 0.01, 1));
  row("1, 0.01, 4", turns(1, 0.01, 4)), row("1, 0.04, 1", turns(1, 0.04, 1));
}
