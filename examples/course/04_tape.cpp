// The tape: every op leaves a note; backward reads them from the newest to the oldest.
//
//   h = w x        y = h h + h        dy/dh = 2h + 1,   dy/dw = (2h + 1) x,   dy/dx = (2h + 1) w
//
// h has two users, so its gradient comes in by two ways (a diamond). It may be passed on to w and x only when
// both have arrived. Notes are numbered as they are written, and every user of h has a higher number than h:
// reading from high to low is all the care that is needed.

#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [watch]
/// Prints the gradient of x once backward has all of it.
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
  std::printf("w = 3, x = 2, h = w x, y = h h + h = %g. The tape, newest note first:\n", y.item());
  std::cout << explain(y);

  watch("w", w), watch("x", x), watch("h", h), watch("hh", hh), watch("y", y);
  std::printf("\nbackward meets them in the same order:\n");
  y.backward();
  std::printf("By the formula dy/dh is 2h + 1 = 13: 12 by way of hh, and 1 directly.\n");

  std::printf("\nAfterwards the notes have let go of what they saved:\n%s", explain(y).c_str());
  // [again]
  try {
    y.backward();
  } catch (const Error& error) {
    std::printf("A second backward is an error, not a wrong number:\n  %s\n", error.what());
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
  std::printf("\nThree ways to write no note:\n");
  // [no_tape]
  const Tensor constant = tensor(2.0) * tensor(5.0);  // no input wants a gradient
  const Tensor detached = w.detach() * 2;             // the numbers of w, without its place on the tape
  Tensor guarded;
  {
    NoGrad guard;  // until the end of this scope
    guarded = w * 2;
  }
  // [/no_tape]
  std::cout << "  constants: " << explain(constant) << "  detach():  " << explain(detached)
            << "  NoGrad:    " << explain(guarded);
}

void written_too_early() {
  // [in_place]
  Tensor w = tensor({1.0, 2.0}).requires_grad_();
  Tensor y = (w * w).sum();  // keeps w: its gradient is 2w
  {
    NoGrad guard;
    w[0] = 100.0;  // an update, but backward has not run yet
  }
  // [/in_place]
  try {
    y.backward();
  } catch (const Error& error) {
    std::printf("\nNumbers that were kept for backward must still be there:\n  %s\n", error.what());
  }
}

void transformer_block() {
  // [block]
  const nn::PreLNBlock block({.d_model = 8, .heads = 2});
  block.requires_grad_(false);  // constants, to keep the picture small
  Tensor x = randn({1, 4, 8}).requires_grad_();
  const Tensor y = block(x);
  // [/block]
  std::printf("\nThe tape of a Transformer block has two diamonds, one for each shortcut:\n%s",
              explain(y).c_str());
}

}  // namespace

int main() {
  diamond();
  gradients_add_up();
  without_a_tape();
  written_too_early();
  transformer_block();
  std::printf("\nNotes alive at the end: %d. They die with the tensors that hold them.\n",
              static_cast<int>(live_nodes()));
}
