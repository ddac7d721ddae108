// Central differences catch a wrong backward, when used with care.
// Its chapter: docs/course/05_gradient_checking/README.md
//
//   df/dx_i  ~  (f(x + h e_i) - f(x - h e_i)) / 2h        off by about h^2 (formula) + eps / h (rounding)
//
// Rules that this program demonstrates: work in f64, choose h near the cube root of eps, weight the outputs
// by random numbers.

#include <cstdio>
#include <functional>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

// [numeric]
Tensor numeric_gradient(const Function& f, const Tensor& x, double h) {
  Tensor dx = zeros_like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    Tensor step = zeros_like(x);
    step[i] = h;
    dx[i] = (f(x + step).item() - f(x - step).item()) / (2 * h);
  }
  return dx;
}
// [/numeric]

// [autograd]
Tensor autograd_gradient(const Function& f, const Tensor& x) {
  Tensor leaf = x.clone().requires_grad_();
  f(leaf).backward();
  return leaf.grad();
}
// [/autograd]

double worst(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }

void choose_h() {
  const Function cube = [](const Tensor& x) { return (x * x * x).sum(); };
  std::printf(
      "f(x) = x^3 at x = 0.7. How far is the central difference from 3 x^2?\n\n    h      f32      f64\n");
  // [sweep]
  for (double h = 1e-1; h > 5e-11; h /= 10) {
    std::printf("%5.0e", h);
    for (const DType dtype : {f32, f64}) {
      const Tensor x = full({1}, 0.7, dtype);
      std::printf("  %6.0e", worst(numeric_gradient(cube, x, h), full({1}, 3 * 0.7 * 0.7, dtype)));
    }
    std::printf("\n");
  }
  // [/sweep]
  std::printf(
      "\nWith h too large the formula is off, with h too small the difference is rounding noise. f64 has\n"
      "room between the two; at none of these h does f32 get below 1e-5.\n");
}

// [ops]
/// softmax as a custom op: y is its value, and backward gets dy and returns dx.
template <class Backward>
Tensor softmax_with(Backward backward, const Tensor& x) {
  const Tensor y = softmax(x.detach(), -1);
  return record("my_softmax", y.array(), {&x}, [=, y = y.array()](const Array& dy, Needs) -> Grads {
    return {backward(Tensor(y), Tensor(dy)).array()};
  });
}

Tensor right(const Tensor& y, const Tensor& dy) { return y * (dy - (dy * y).sum(-1, true)); }
Tensor diagonal_only(const Tensor& y, const Tensor& dy) { return y * (1 - y) * dy; }  // as for a sigmoid
Tensor nothing(const Tensor& y, const Tensor&) { return zeros_like(y); }
// [/ops]

void check_three_backwards() {
  manual_seed(0);
  const Tensor x = randn({5}, f64), c = randn({5}, f64);
  std::printf(
      "\nThree backwards for softmax, each checked with two functions of its output y (h = 1e-5):\n\n"
      "%-24s %14s %14s\n",
      "", "sum(y)", "sum(c y)");
  const auto row = [&](const char* name, auto backward) {
    // [check]
    const auto error = [&](const Tensor& weights) {
      const Function f = [&](const Tensor& z) { return (weights * softmax_with(backward, z)).sum(); };
      return worst(numeric_gradient(f, x, 1e-5), autograd_gradient(f, x));
    };
    // [/check]
    const auto verdict = [](double e) { return e < 1e-8 ? "passes" : "off by"; };
    std::printf("%-24s", name);
    for (const double e : {error(ones({5}, f64)), error(c)}) {
      if (e < 1e-8)
        std::printf(" %14s", verdict(e));
      else
        std::printf("  %s %6.3f", verdict(e), e);
    }
    std::printf("\n");
  };
  row("y (dy - sum(dy y))", right);
  row("y (1 - y) dy", diagonal_only);
  row("0", nothing);
  std::printf(
      "\nsum(y) is 1 whatever x is: checked with it, a backward that does nothing passes. Random weights c\n"
      "expose it.\n");
}

}  // namespace

int main() {
  choose_h();
  check_three_backwards();
}
