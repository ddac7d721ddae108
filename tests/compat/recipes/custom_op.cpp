// A custom op: forward, saved tensors, derivative, and a check that they agree.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// x sigmoid(b x): dx = dy s (1 + b x (1 - s)), s = sigmoid(b x). One node on the tape, which saves x and s.
Tensor swish(const Tensor& x, double b) {
  const Tensor in = x.detach(), s = sigmoid(b * in);  // detached: records nothing
  return record("swish", (in * s).array(), {&x},
                [b, x = Saved(in.array()), s = Saved(s.array())](const Array& dy, Needs) -> Grads {
                  const Tensor gate(*s), input(*x);
                  return {(Tensor(dy) * gate * (1 + b * input * (1 - gate))).array()};
                });
}

/// The same op with a wrong derivative.
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
  std::printf("swish: right; the same values as silu: %s\n", allclose(swish(x, 1), silu(x)) ? "yes" : "no");
  try {
    gradcheck(wrong, {x});
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}
