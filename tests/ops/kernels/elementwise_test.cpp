// Elementwise kernels of two or more arrays at every tail, stride and alignment, on every instruction set.
// Their values on long arrays: million_elementwise_test.cpp.

#include "binary_references.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("binary kernels at every tail, and in place", T, float, double) {
  const Two<T> two(70);
  const std::vector<T>&a = two.a, &b = two.b;
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < static_cast<int>(Binary::count); ++op) {
      CAPTURE(op);
      std::vector<T> want(70);
      table.binary[op](70, a.data(), 1, b.data(), 1, want.data());
      at_every_tail([&](I n, I offset) {
        Guarded<T> left(a, n, offset), right(b, n, offset), y(n, offset);
        table.binary[op](n, left.data(), 1, right.data(), 1, y.data());
        table.binary[op](n, left.data(), 1, right.data(), 1, left.data());
        bool good = left.intact() && right.intact() && y.intact();
        for (I i = 0; i < n; ++i)
          good = good && same(y[i], want[static_cast<std::size_t>(i)]) && same(y[i], left[i]);
        CHECK(good);
      });
    }
  });
}

TEST_CASE_TEMPLATE("comparisons and where at every tail and stride", T, float, double) {
  const Two<T> two(70);
  const std::vector<T>&a = two.a, &b = two.b;
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      for (int code = 0; code < 4 * static_cast<int>(Compare::count); ++code) {
        const I sa = code & 1, sb = code / 2 & 1;
        const int op = code / 4;
        Guarded<T> left(a, n, offset), right(b, n, offset), chosen(n, offset), by_first(n, offset);
        Guarded<unsigned char> bytes(n, offset);  // a bool could not tell a guard from true
        bool* const y = reinterpret_cast<bool*>(bytes.data());
        const bool first_before = n > 0 && left[0] > 0;
        table.compare[op](n, left.data(), sa, right.data(), sb, y);
        table.where(n, y, 1, left.data(), sa, right.data(), sb, chosen.data());
        table.where(n, &first_before, 0, left.data(), sa, right.data(), sb, by_first.data());
        bool good = bytes.intact() && chosen.intact() && by_first.intact();
        for (I i = 0; i < n; ++i) {
          const T p = left[i * sa], q = right[i * sb];
          const bool want = compare_reference(static_cast<Compare>(op), p, q);
          good = good && bytes[i] == (want ? 1 : 0) && same(chosen[i], want ? p : q) &&
                 same(by_first[i], first_before ? p : q);
        }
        CHECK(good);
      }
    });
  });
}

TEST_CASE_TEMPLATE("scale and clamp at every tail", T, float, double) {
  const Two<T> two(70);
  const std::vector<T>&x = two.a, &y = two.b;
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const auto run = [&](auto kernel, auto reference, double allowed) {
      at_every_tail([&](I n, I offset) {
        Guarded<T> a(x, n, offset), out(y, n, offset);
        kernel(n, a.data(), out.data());
        bool good = a.intact() && out.intact();
        for (I i = 0; i < n; ++i) {
          const Wide<T> want =
              reference(static_cast<Wide<T>>(a[i]), static_cast<Wide<T>>(y[static_cast<std::size_t>(i)]));
          good = good && ulps(out[i], want) <= allowed;
        }
        CHECK(good);
      });
    };
    const auto multiply = [&](I n, const T* a, T* out) { table.scale(n, T(-1.5), a, out); };
    run(
        multiply, [](auto a, auto) { return a * -1.5; }, 0.51);
    const auto clamp = [&](I n, const T* a, T* out) { table.clamp(n, T(-1), T(2), a, out); };
    run(
        clamp, [](auto a, auto) { return a < -1  ? decltype(a)(-1)
                                         : a > 2 ? decltype(a)(2)
                                                 : a; }, 0);
  });
}

TEST_CASE_TEMPLATE("mul_add loses no more than the product's and the sum's rounding", T, float, double) {
  const std::vector<T> a = normal_values<T>(70, 1), b = normal_values<T>(70, 2),
                       before = normal_values<T>(70, 3);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      Guarded<T> x(a, n, offset), z(b, n, offset), sum(before, n, offset);
      table.mul_add(n, x.data(), z.data(), sum.data());
      bool good = sum.intact();
      for (I i = 0; i < n; ++i) {
        const Wide<T> y = before[static_cast<std::size_t>(i)], product = Wide<T>(x[i]) * z[i];
        good = good && std::fabs(sum[i] - (y + product)) <= eps<T> * (std::fabs(y) + std::fabs(product));
      }
      CHECK(good);
    });
  });
}

}  // namespace
}  // namespace gradus::test
