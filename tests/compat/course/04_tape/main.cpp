// Every op records a node; backward visits them from the newest to the oldest.
// Its chapter: docs/course/04_tape/README.md
//   h = w x        y = h h + h        dy/dh = 2h + 1,   dy/dw = (2h + 1) x,   dy/dx = (2h + 1) w
// h has two users, so its gradient arrives along two paths (a diamond), and both parts must have arrived
// before it is passed on.

#include <cstdio>

#include "gradus/gradus.h"
#include "tape_in_100_lines.h"

using namespace gradus;

namespace {

void small_tape() {
  // [small]
  small::Tape tape;
  small::Number w = tape.leaf(3), x = tape.leaf(2), h = w * x, y = h * h + h;
  tape.backward(y);
  // [/small]
  std::printf(
      "A tape of scalars: w = 3, x = 2, h = w x, y = h h + h\n"
      "place  op     value   inputs   slopes   dy/d it\n");
  for (std::size_t i = 0; i < tape.nodes().size(); ++i) {
    const small::Node& node = tape.nodes()[i];
    std::printf("%5d  %-5s %6g", static_cast<int>(i), node.op, node.value);
    for (const std::size_t place : node.inputs) std::printf("%4d", static_cast<int>(place));
    for (const double slope : node.slopes) std::printf("%4g", slope);
    std::printf("%*g\n", node.inputs.empty() ? 25 : 9, node.grad);
  }
}

// [watch]
/// Prints the gradient of x once it is complete.
void watch(const char* name, const Tensor& x) {
  x.on_grad([name](const Array& dx) { std::printf("  dy/d%-2s = %g\n", name, dx.item()); });
}
// [/watch]

void diamond() {
  // [diamond]
  Tensor w = tensor(3.0).requires_grad_();
  Tensor x = tensor(2.0).requires_grad_();
  Tensor h = w * x;
  Tensor hh = h * h;
  Tensor y = hh + h;
  // [/diamond]
  std::printf("\nThe same with tensors, newest node first:\n%s", explain(y).c_str());

  watch("w", w), watch("x", x), watch("h", h), watch("hh", hh), watch("y", y);
  std::printf("\nbackward visits them in the same order:\n");
  y.backward();
  std::printf("By the formula dy/dh is 2h + 1 = 13: 12 through hh, and 1 directly.\n");
  // [again]
  try {
    y.backward();
  } catch (const Error& error) {
    std::printf("\nA second backward is an error, not a wrong number:\n  %s\n", error.what());
  }
  // [/again]
}

void gradients_add_up() {
  // [accumulate]
  Tensor w = tensor(3.0).requires_grad_();
  Tensor y = w * w;
  y.backward(/*retain_graph=*/true);
  const double once = w.grad().item();
  y.backward();
  const double twice = w.grad().item();
  w.zero_grad();
  // [/accumulate]
  std::printf(
      "\nGradients of a leaf add up until zero_grad(): d(w w)/dw at 3 is %g, after a second pass %g.\n", once,
      twice);
}

void without_a_tape() {
  Tensor w = tensor(3.0).requires_grad_();
  std::printf("\nThree ways to record no node:\n");
  // [no_tape]
  const Tensor constant = tensor(2.0) * tensor(5.0);  // no input requires a gradient
  const Tensor detached = w.detach() * 2;             // the values of w, without its node
  Tensor guarded;
  {
    NoGrad guard;  // until the end of this scope
    guarded = w * 2;
  }
  // [/no_tape]
  std::printf("  constants: %s  detach():  %s  NoGrad:    %s", explain(constant).c_str(),
              explain(detached).c_str(), explain(guarded).c_str());
}

void written_too_early() {
  // [in_place]
  Tensor w = tensor({1.0, 2.0}).requires_grad_();
  Tensor y = (w * w).sum();  // saves w: its gradient is 2w
  {
    NoGrad guard;
    w[0] = 100.0;  // an update, but backward has not run yet
  }
  // [/in_place]
  try {
    y.backward();
  } catch (const Error& error) {
    std::printf("\nValues saved for backward must not change:\n  %s\n", error.what());
  }
}

}  // namespace

int main() {
  small_tape();
  diamond();
  gradients_add_up();
  without_a_tape();
  written_too_early();
  std::printf("\nNodes alive at the end: %d. They die with the tensors that hold them.\n", int(live_nodes()));
}
