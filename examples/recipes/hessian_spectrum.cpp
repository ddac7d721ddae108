// The ends of a Hessian's spectrum, by Lanczos: it needs no matrix, only products H v.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// Eigenvalue k, from 0 for the smallest, of a matrix T with diagonals b, a and b, by bisection: T - x
/// has as many negative pivots as T has eigenvalues below x.
double eigenvalue(const std::vector<double>& a, const std::vector<double>& b, int k) {
  double low = -1e3, high = 1e3;
  while (high - low > 1e-9) {
    const double x = (low + high) / 2;
    double pivot = 1, below = 0;
    for (std::size_t i = 0; i < a.size(); ++i) below += (pivot = a[i] - x - b[i] * b[i] / pivot) < 0;
    (below > k ? high : low) = x;
  }
  return low;
}

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Tensor w = randn({48}).requires_grad_(), x = randn({64, 2}), y = sin(x.sum(-1));
  const auto loss = [&] {  // of a net whose weights are one vector
    return mse_loss(matmul(tanh(matmul(x, w.slice(0, 0, 32).reshape({2, 16}))), w.slice(0, 32)), y);
  };
  std::vector<double> a, b = {0};
  for (Tensor q = normalize(randn({48}), 2, 0), all = q.unsqueeze(0); a.size() < 25;) {
    const Tensor Hq = hvp(loss, {w}, {q})[0], rest = Hq - matmul(matmul(all, Hq), all);
    a.push_back((q * Hq).sum().item());
    b.push_back(rest.norm().item());
    q = rest / b.back();
    all = cat({all, q.unsqueeze(0)});  // orthogonal directions of length 1
  }
  const double top = eigenvalue(a, b, 24);
  std::printf("smallest %.2f, largest %.2f and %.2f\n", eigenvalue(a, b, 0), top, eigenvalue(a, b, 23));
  std::printf("sharpness() over the largest: %.2f\n", sharpness(loss, {w}).value / top);
}
