// The loss of a model that predicts the next letter, and the floor below which no model gets.
// Its chapter: docs/course/07_cross_entropy/README.md
//   p = softmax(z),  loss = -log p[target] = logsumexp(z) - z[target],  dloss/dz = p - one_hot(target)
//   mean loss = H(truth) + KL(truth || model) >= H(truth), the entropy

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

void show(const char* name, const Tensor& x) {
  std::printf("  %-24s", name);
  for (const double value : x.to_vector<double>())
    std::printf(std::isnan(value) ? "      NaN" : " %8.3f", value);
  std::printf("\n");
}

void softmax_by_hand() {
  // [softmax]
  Tensor z = tensor({2.0, 1.0, 0.0, -1.0}).requires_grad_();
  const Tensor p = exp(z.detach()) / exp(z.detach()).sum();
  const Tensor loss = cross_entropy(z.unsqueeze(0), tensor({1}));  // one row of logits, one target
  loss.backward();
  const Tensor dz = p - one_hot(tensor(1), 4).to(f64);
  // [/softmax]
  show("Right class 1, logits z", z.detach());
  show("p = exp(z) / sum", p);
  show("-log p[1]", -log(p[1]).reshape({1}));
  show("cross_entropy", loss.detach().reshape({1}));
  show("p - one_hot(1)", dz);
  show("autograd's dz", z.grad());
}

void large_logits() {
  std::printf("\nLarge logits: exp(1000) is infinite, and inf / inf is not a number.\n");
  // [stable]
  const Tensor z = tensor({1000.0, 1001.0}), m = z.max();
  const Tensor naive = exp(z) / exp(z).sum();
  const Tensor stable = exp(z - m) / exp(z - m).sum();   // the same by algebra: exp(m) cancels
  const Tensor log_sum_exp = m + log(exp(z - m).sum());  // log of sum exp(z), without the overflow
  // [/stable]
  show("exp(z) / sum", naive);
  show("the same of z - max(z)", stable);
  show("log sum exp", log_sum_exp.reshape({1}));
  int n = 1;
  while (std::isfinite(exp(tensor(double(n)).to(f32)).item())) ++n;
  std::printf("  In f32 the first whole number whose exp overflows is %d.\n", n);
}

// [language]
constexpr double kNext = 0.7, kOther = 0.1;
struct Pairs {
  Tensor before, after;  // letters 0..3: after is before + 1 (mod 4) with probability 0.7, else any other
};

Pairs draw(std::int64_t n) {
  const Tensor jump = multinomial(tensor({kNext, kOther, kOther, kOther}), n, /*replacement=*/true);
  const Tensor before = randint(0, 4, {n});
  return {before, (before + 1 + jump) % 4};
}
// [/language]

/// A table of logits after 200 steps of gradient descent: its loss on the pairs it learned from, and on new
/// ones.
Tensor learn(std::int64_t n, bool softmax_twice) {
  const Pairs seen = draw(n), fresh = draw(10'000);
  // [table]
  Tensor table = zeros({4, 4}).requires_grad_();  // a row of logits for each previous letter
  const auto loss = [&](const Pairs& pairs) {
    const Tensor z = table[pairs.before];  // [n, 4]
    return cross_entropy(softmax_twice ? softmax(z, -1) : z, pairs.after);
  };
  // [/table]
  for (int step = 0; step < 200; ++step) {
    table.zero_grad();
    loss(seen).backward();
    const NoGrad guard;
    table -= 4.0 * table.grad();
  }
  return stack({loss(seen), loss(fresh)}).detach();
}

void floors() {
  const double entropy = -kNext * std::log(kNext) - 3 * kOther * std::log(kOther);
  std::printf(
      "\nA blind guess costs log V:  V = 4: %.2f   V = 65: %.2f   V = 50257: %.2f nats\n"
      "A language of 4 letters, the likeliest next one at 70%%: its entropy is %.2f nats. Means of 20 "
      "seeds:\n\npairs seen   loss on them   in seeds below the entropy   loss on new ones\n",
      std::log(4.0), std::log(65.0), std::log(50257.0), entropy);
  for (const std::int64_t n : {30, 100, 1000}) {
    Tensor sum = zeros({2});
    int below = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      manual_seed(seed);
      const Tensor losses = learn(n, false);
      sum += losses;
      below += losses[0].item() < entropy;
    }
    std::printf("%10d %14.2f %28d %18.2f\n", static_cast<int>(n), sum[0].item() / 20, below,
                sum[1].item() / 20);
  }
  manual_seed(0);
  std::printf(
      "\nSoftmax twice, cross_entropy(softmax(z), ...): 1000 pairs end at %.2f. Even a model that is sure\n"
      "and right then has a loss of log(e + V - 1) - 1: %.2f with V = 4, %.2f with V = 65.\n",
      learn(1000, true)[0].item(), std::log(std::exp(1.0) + 3) - 1, std::log(std::exp(1.0) + 64) - 1);
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  softmax_by_hand();
  large_logits();
  floors();
}
