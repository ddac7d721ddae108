// Gradients of unary kernels: limits, every tail and alignment, on every instruction set. Their values:
// million_unary_test.cpp.

#include "kernel_test.h"

namespace gradus::test {
namespace {

using kernels::UnaryGrad;

constexpr int grad_count = static_cast<int>(UnaryGrad::count);

TEST_CASE_TEMPLATE("activation gradients have their limits at the infinities, and pass NaN on", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T x[3] = {-infinity, infinity, std::numeric_limits<T>::quiet_NaN()}, dy[3] = {2, 2, 2};
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (UnaryGrad op : {UnaryGrad::gelu, UnaryGrad::gelu_tanh, UnaryGrad::silu}) {
      T dx[3];
      table.unary_grad[static_cast<int>(op)](3, x, dy, dx);
      CHECK(dx[0] == 0);
      CHECK(dx[1] == 2);
      CHECK(std::isnan(dx[2]));
    }
  });
}

TEST_CASE_TEMPLATE("unary gradients at every tail: same bits, nothing written outside, in place too", T,
                   float, double) {
  const std::vector<T> x = hard_values<T>(70), dy = normal_values<T>(70, 5);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < grad_count; ++op) {
      CAPTURE(op);
      std::vector<T> want(70);
      for (I i = 0; i < 70; ++i) table.unary_grad[op](1, x.data() + i, dy.data() + i, want.data() + i);
      at_every_tail([&](I n, I offset) {
        Guarded<T> in(x, n, offset), grad(dy, n, offset), out(n, offset);
        table.unary_grad[op](n, in.data(), grad.data(), out.data());
        table.unary_grad[op](n, in.data(), grad.data(), grad.data());
        bool equal = out.intact() && in.intact() && grad.intact();
        for (I i = 0; i < n; ++i)
          equal = equal && same(out[i], want[static_cast<std::size_t>(i)]) && same(grad[i], out[i]);
        CHECK(equal);
      });
    }
  });
}

}  // namespace
}  // namespace gradus::test
