// Second derivatives on the tape; the sharpness, the largest stable rate, and what a norm does to both.
// Its chapter: docs/course/29_curvature/README.md
//
//   H v = d(g . v)/dw            g = dL/dw, v a constant; the sharpness s is the largest eigenvalue of H
//   d -> (1 - rate s) d          what a step does to a small displacement d with H d = s d

#include <cmath>
#include <cstdio>
#include <functional>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

using Loss = std::function<Tensor(const Tensor& w)>;

const char* yes(bool is_so) { return is_so ? "yes" : "no"; }

void derivatives() {
  // [thrice]
  const Tensor x = tensor(2.0).requires_grad_(), y = x * x * x;
  const Tensor first = grad(y, {x}, {.create_graph = true})[0];       // 3 x^2
  const Tensor second = grad(first, {x}, {.create_graph = true})[0];  // 6 x
  const Tensor third = grad(second, {x})[0];                          // 6
  // [/thrice]
  std::printf("x^3 at 2 is %g; its derivatives are %g, %g and %g, the last of them %s.\n", y.item(),
              first.item(), second.item(), third.item(),
              third.requires_grad() ? "on the tape" : "a constant");
}

// [product]
/// H v: the gradient of g . v.
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w}, {.create_graph = true})[0];
  return grad((g * v).sum(), {w})[0];
}
// [/product]

// [step]
/// What a step multiplies a small displacement along v by, with its sign.
double factor(const Loss& loss, const Tensor& w, const Tensor& v, double rate) {
  const auto after = [&](double t) {
    const Tensor at = (w.detach() + t * v).requires_grad_();
    return at.detach() - rate * grad(loss(at), {at})[0];
  };
  return ((after(1e-4) - after(-1e-4)) * v).sum().item() / 2e-4;
}
// [/step]

void steps(const Loss& loss, const Tensor& w) {
  Tensor v = normalize(randn(w.shape()), 2, 0);
  for (int i = 0; i < 200; ++i) v = normalize(product(loss, w, v), 2, 0);  // power iteration
  const double s = (v * product(loss, w, v)).sum().item();
  std::printf("\nThe sharpness is %.2f, by sharpness() %.2f. A step multiplies a displacement along its", s,
              sharpness([&] { return loss(w); }, {w}).value);
  std::printf(" direction by\n");
  for (const double share : {0.5, 1.5, 2.0, 2.5})
    std::printf("  %5.2f  at the rate %.1f / s\n", factor(loss, w, v, share / s), share);
}

// [net]
/// A matrix w and a fixed readout, with a norm behind the matrix or without.
Tensor net(const Tensor& x, const Tensor& w, const Tensor& readout, bool norm) {
  const Tensor h = matmul(x, w);
  return matmul(leaky_relu(norm ? layer_norm(h, {}, {}, 0) : h), readout);
}
// [/net]

void scales(const Loss& loss, const Tensor& w) {
  const double s = sharpness(loss, {w}).value;
  std::printf("  the sharpness is %.2f; with 2 w, 4 w, 8 w it is multiplied by", s);
  for (const double c : {2.0, 4.0, 8.0})
    std::printf(" %.4f", sharpness(loss, {(c * w.detach()).requires_grad_()}).value / s);
  const Tensor g = grad(loss(w), {w})[0], Hw = product(loss, w, w.detach());
  std::printf("\n  g . w = 0: %s; H w = -g: %s\n",
              yes(std::abs((g * w).sum().item()) < 1e-12 * (g.norm() * w.norm()).item()),
              yes((Hw + g).norm().item() < 1e-8 * g.norm().item()));
}

void training(const Loss& loss, Tensor w) {
  const double rate = 20 * 2 / sharpness(loss, {w}).value, before = loss(w).item();
  const double length = w.norm().item();
  double squares = length * length;
  // [train]
  for (int step = 0; step < 1000; ++step) {
    const Tensor g = grad(loss(w), {w})[0];
    w = (w.detach() - rate * g).requires_grad_();
    squares += rate * rate * g.square().sum().item();  // |w|^2 if every step is at right angles to w
  }
  // [/train]
  const double after = loss(w).item();
  std::printf("  after 1000 steps at the rate 40 / s: ");
  if (!std::isfinite(after)) return void(std::printf("loss not finite, before %.2f\n", before));
  std::printf("loss %.2f, before %.2f; |w| %.1f (%.1f), before %.1f; rate * sharpness %.2f\n", after, before,
              w.norm().item(), std::sqrt(squares), length, rate * sharpness(loss, {w}).value);
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  derivatives();
  const Tensor x = randn({64, 2}), y = sin(x.sum(-1)), w = (0.5 * randn({48})).requires_grad_();
  const Loss loss = [&](const Tensor& at) {  // of a net with one hidden layer of 16
    const Tensor h = tanh(matmul(x, at.slice(0, 0, 32).reshape({2, 16})));
    return mse_loss(matmul(h, at.slice(0, 32)), y);
  };
  steps(loss, w);
  const Tensor points = randn({64, 4}), curve = sin(points.sum(-1)), readout = randn({16}) / 4;
  const Tensor matrix = (randn({4, 16}) / 2).requires_grad_();
  for (const bool norm : {false, true}) {
    std::printf("\n%s a norm:\n", norm ? "With" : "Without");
    const Loss of = [&](const Tensor& m) { return mse_loss(net(points, m, readout, norm), curve); };
    scales(of, matrix);
    training(of, matrix);
  }
}
