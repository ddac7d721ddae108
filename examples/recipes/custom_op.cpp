// An op of your own: its numbers, what is saved, the derivative, and whether these agree.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// x sigmoid(b x): dx = dy s (1 + b x (1 - s)), s = sigmoid(b x). One note on the tape, x and s are saved.
Tensor swish(const Tensor& x, double b) {
  const Tensor in = x.detach(), s = sigmoid(b * in);  // plain numbers: these leave no notes
  return record("swish", (in * s).array(), {&x},
                [b, x = Saved(in.array()), s = Saved(s.array())](const Array& dy, Needs) -> Grads {
                  const Tensor gate(*s), input(*x);
                  return {(Tensor(dy) * gate * (1 + b * input * (1 - gate))).array()};
                });
}

/// The same with a mistake in the derivative.
Tensor wrong(const Tensor& x) {
  return record("wrong", swish(x.detach(), 1).array(), {&x},
                [x = Saved(x.array())](const Array& dy, Needs) -> Grads {
                  return {(Tensor(dy) * sigmoid(Tensor(*x))).array()};
                });
}

int main() {
  manual_seed(0);
  const Tensor x = randn({2, 3}, f64).requires_grad_();
  gradcheck([](const Tensor& t) { return swish(t, 1.5); }, {x});
  std::printf("swish: right; the same numbers as silu: %s\n", allclose(swish(x, 1), silu(x)) ? "yes" : "no");
  try {
    gradcheck(wrong, {x});
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}
