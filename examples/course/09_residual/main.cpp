// The effect of x + f(x) on signal and gradient, at four initializations.
// Its chapter: docs/course/09_residual/README.md
//   x_l = x_(l-1) + f_l(x_(l-1)),  f(x) = W2 relu(W1 x)        dx_L/dx_0 = (I + J_L) ... (I + J_2) (I + J_1)
#include <cmath>
#include <cstdio>
#include <vector>
#include "gradus/gradus.h"

using namespace gradus;

namespace {
constexpr std::int64_t C = 32;

struct Scheme {
  const char* name;
  double v;             // W1 and W2 are N(0, v/d),
  bool scaled = false;  // in addition, W2 divided by sqrt(L)
};
constexpr Scheme kSchemes[] = {
    {"N(0, 1/d)", 1}, {"N(0, 1/(3d))", 1.0 / 3}, {"N(0, 0.02^2)", 0.02 * 0.02 * C}, {"W2/sqrt(L)", 1, true}};

// [branch]
struct Branch {
  Tensor w1, w2;
};

Tensor run(const std::vector<Branch>& branches, Tensor x, bool shortcut = true) {
  for (const auto& [w1, w2] : branches) {
    const Tensor f = linear(relu(linear(x, w1)), w2);
    x = shortcut ? x + f : f;
  }
  return x;
}
// [/branch]

std::vector<Branch> random_branches(int L, const Scheme& s) {
  const auto matrix = [](double v) { return (std::sqrt(v / C) * randn({C, C})).requires_grad_(); };
  std::vector<Branch> branches;
  for (int l = 0; l < L; ++l) branches.push_back({matrix(s.v), matrix(s.scaled ? s.v / L : s.v)});
  return branches;
}

/// log10 of the growth of |x|^2 upward and of |dL/dx|^2 downward; the cosine of the gradients at both ends.
Tensor sizes(const Scheme& s, int L, bool shortcut) {
  const Tensor x = randn({C}).requires_grad_(), dy = randn({C});
  const Tensor y = run(random_branches(L, s), x, shortcut);
  y.backward(dy);
  const Tensor dx = x.grad(), growth = stack({y.norm() / x.norm(), dx.norm() / dy.norm()}).detach();
  return cat({2 * log(growth) / std::log(10.0), (dx * dy).sum({0}, true) / dx.norm() / dy.norm()});
}

// [product]
Tensor jacobian(const std::vector<Branch>& branches, const Tensor& x) {
  const Tensor copies = x.detach().expand({C, C}).clone().requires_grad_();  // one row for each output
  run(branches, copies).backward(eye(C));
  return copies.grad();
}

/// The distance of the product of all I + J_l, and of I + the sum of the J_l, from dx_L/dx_0, in percent.
Tensor errors(const Scheme& s, int L, bool) {
  const std::vector<Branch> branches = random_branches(L, s);
  Tensor x = randn({C}), product = eye(C), sum = eye(C);
  const Tensor whole = jacobian(branches, x);
  for (const Branch& f : branches) {
    const Tensor one = jacobian({f}, x);  // I + J_l
    product = matmul(one, product);
    sum = sum + (one - eye(C));
    x = run({f}, x).detach();
  }
  return 100 * stack({(product - whole).norm(), (sum - whole).norm()}) / whole.norm();
}
// [/product]

/// The loss on the curve of chapter 6 after 200 steps at the rate 10^power, with 16 branches.
Tensor train(const Scheme& s, int power, bool shortcut) {
  const nn::Linear in(1, C), out(C, 1);
  const std::vector<Branch> branches = random_branches(16, s);
  std::vector<Tensor> parameters{in.weight, in.bias, out.weight, out.bias};
  for (const auto& [w1, w2] : branches) parameters.insert(parameters.end(), {w1, w2});
  optim::SGD opt(parameters, {.lr = std::pow(10.0, power), .momentum = 0.9});
  const Tensor x = rand({10, 20, 1}) * 6 - 3, y = sin(2 * x) + 0.5 * x;  // ten batches
  const auto net = [&](const Tensor& z) { return out(run(branches, in(z), shortcut)); };
  for (int step = 0; step < 200; ++step) {
    opt.zero_grad();
    mse_loss(net(x[step % 10]), y[step % 10]).backward();
    opt.step();
  }
  return mse_loss(net(x), y).reshape({1}).detach();
}

/// Means over seeds, a row for each scheme; a column is {branches or the power of a rate, with shortcuts?}.
void table(const char* title, unsigned seeds, auto measure,
           const std::vector<std::pair<int, bool>>& columns) {
  std::printf("%s", title);
  for (const Scheme& s : kSchemes) {
    std::printf("%-13s", s.name);
    for (const auto& [number, shortcut] : columns) {
      Tensor sum = zeros({1});
      for (unsigned n = 0; n < seeds; ++n) manual_seed(n), sum = sum + measure(s, number, shortcut);
      for (const double x : sum.to_vector<double>())
        std::printf(std::isnan(x) ? "       NaN" : "%10.2f", x / seeds);
    }
    std::printf("\n");
  }
}
}  // namespace

int main() {
  const DefaultDType guard(f64);
  const char* sizes_title =
      "32 branches, without shortcuts and with: log10 of the growth, and the cosine of both ends' gradients\n"
      "weights           |x|^2 |dL/dx|^2    cosine     |x|^2 |dL/dx|^2    cosine\n";
  const char* errors_title = "\nerror, in %    product 4   sum 4   prod. 16    sum 16  prod. 64    sum 64\n";
  const char* losses_title =
      "\nloss      without 1e-2 with 1e-5      1e-3      1e-2   (shortcuts, rate; 16 branches, 200 steps)\n";
  table(sizes_title, 10, sizes, {{32, false}, {32, true}});
  table(errors_title, 10, errors, {{4, true}, {16, true}, {64, true}});
  table(losses_title, 5, train, {{-2, false}, {-5, true}, {-3, true}, {-2, true}});
}
