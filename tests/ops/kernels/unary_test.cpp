// Unary kernels at every tail and alignment, on every instruction set. Their values: million_unary_test.cpp.

#include "kernel_test.h"

namespace gradus::test {
namespace {

constexpr int unary_count = static_cast<int>(kernels::Unary::count);

TEST_CASE_TEMPLATE("unary kernels at every tail: same bits, nothing written outside, in place too", T, float,
                   double) {
  const std::vector<T> x = hard_values<T>(70);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < unary_count; ++op) {
      CAPTURE(op);
      std::vector<T> want(70);
      for (I i = 0; i < 70; ++i) table.unary[op](1, x.data() + i, want.data() + i);
      at_every_tail([&](I n, I offset) {
        Guarded<T> in(x, n, offset), out(n, offset);
        table.unary[op](n, in.data(), out.data());
        table.unary[op](n, in.data(), in.data());
        bool equal = out.intact() && in.intact();
        for (I i = 0; i < n; ++i)
          equal = equal && same(out[i], want[static_cast<std::size_t>(i)]) && same(in[i], out[i]);
        CHECK(equal);
      });
    }
  });
}

}  // namespace
}  // namespace gradus::test
