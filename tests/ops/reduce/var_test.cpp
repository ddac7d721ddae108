// var, std and var_mean of values far from 0, for which the rounding of the mean matters.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "check_op.h"
#include "exact_rows.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/var_mean.h"
#include "values.h"

namespace gradus::test {
namespace {

struct Far {
  Shape shape;
  Axes axes;
};

const std::vector<Far>& far_cases() {
  static const std::vector<Far> all = {{{300'000}, 0},           {{300'000, 1}, 0}, {{300'000, 3}, 0},
                                       {{2, 3, 40'000}, 2},      {{70'000, 40}, 0}, {{2, 90'000, 2}, 1},
                                       {{400, 3, 400}, {0, 2}},  {{50, 20, 9}, 1},  {{5, 7, 4}, {1, 2}},
                                       {{60, 50, 2, 3}, {0, 1}}, {{4, 300}, {}}};
  return all;
}

/// The largest error of y, relative to the exact values.
double relative_error(const Tensor& y, const Tensor& exact) {
  return ((y.to(f64) - exact) / exact).abs().max().item();
}

TEST_CASE("var, std: within 1e-4 at any distance of the values from 0, along any axes, in any layout") {
  manual_seed(0);
  for (const Far& c : far_cases())
    for (const double mean : {0.0, 300.0, 2e4, -3e5, 4e6})
      for (const bool unbiased : {false, true}) {
        CAPTURE(c.shape);
        CAPTURE(mean);
        const Tensor x = (randn(c.shape, f64) + mean).to(f32), wide = x.to(f64);
        const VarOptions options{.unbiased = unbiased};
        const Tensor exact = var(wide, c.axes, options);
        CHECK(relative_error(var(x, c.axes, options), exact) < 3e-5);
        CHECK(relative_error(std(x, c.axes, options), sqrt(exact)) < 3e-5);
        if (c.shape.size() < 2) continue;
        const Tensor other = x.transpose(0, -1).contiguous().transpose(0, -1);
        CHECK((var(other, c.axes, options) == var(x, c.axes, options)).all());
      }
}

TEST_CASE("var, std, var_mean: gradients about a mean as accurate as f32 allows") {
  manual_seed(1);
  const double mean = 2e4, half = 0.001;  // numbers near 20000 are 0.00195 apart
  for (const Far& c : far_cases()) {
    CAPTURE(c.shape);
    const Tensor x = leaf((randn(c.shape, f64) + mean).to(f32));
    const Tensor wide = x.detach().to(f64), exact_mean = wide.mean(c.axes, true), d = wide - exact_mean;
    const double n = static_cast<double>(x.numel()) / static_cast<double>(exact_mean.numel());
    var(x, c.axes, {.unbiased = false}).sum().backward();
    CHECK((x.grad().to(f64) * (n / 2) - d).abs().max().item() < half);
    x.zero_grad();
    std(x, c.axes, {.unbiased = false}).sum().backward();
    const Tensor deviation = std(wide, c.axes, {.keepdim = true, .unbiased = false});
    CHECK((x.grad().to(f64) * n * deviation - d).abs().max().item() < half);
    const auto [v, m, rest] = var_mean(x, c.axes, false);
    CHECK((m.to(f64) - exact_mean).abs().max().item() < half);
    CHECK((v == var(x, c.axes, {.keepdim = true, .unbiased = false})).all());
  }
}

TEST_CASE("var_mean: gradients, layouts, threads; near 0 the bits of var and mean") {
  for (const Far& c : {Far{{3, 4}, 0}, {{2, 3, 4}, {0, 2}}, {{70, 3}, 0}, {{7}, {}}, {{300, 40}, 1}})
    check_op("var_mean",
             [&](const Tensor& x) {
               const auto [v, m, rest] = var_mean(x, c.axes, true);
               return Tensors{v, m};
             },
             {c.shape});
  const Tensor x = randn({3000, 5});
  const auto [v, m, rest] = var_mean(x, 0, true);
  CHECK((m == x.mean(0, true)).all());
  CHECK((v == x.var(0, {.keepdim = true})).all());
}

TEST_CASE("std: of numbers as far apart as their dtype allows") {
  for (const DType dtype : {f32, f64}) {
    const double huge = dtype == f32 ? 3e38 : 1.7e308;
    const Tensor x = tensor({huge, -huge, -huge, -huge}, dtype);
    CHECK(x.std({}, {.unbiased = false}).item() / huge == doctest::Approx(std::sqrt(0.75)).epsilon(1e-6));
  }
}

TEST_CASE("std, var: the results of long double, also for gradients, down to the smallest normal deviation") {
  for_each_hard_row([](const HardRow& row) {
    const double normal = row.dtype == f32 ? 1.2e-38 : 2.3e-308, root = row.dtype == f32 ? 1e-18 : 1e-153;
    if (row.size < normal) return;
    for (const int n : {7, 70, 1031}) {
      CAPTURE(n);
      const Tensor x = leaf(row.x(n).reshape({n, 1}));
      const Exact d = centred(exact(x));
      const long double deviation = std::sqrt(mean_product(d, d)), count = n;
      Exact of_std, of_var;
      for (const long double v : d) {
        of_std.push_back(v / (count * deviation));
        of_var.push_back(2 * v / count);
      }
      const VarOptions biased{.unbiased = false};
      const Tensor y = x.std(0, biased);
      y.sum().backward();
      CHECK(worst_error(y, {deviation}) < row.most_of_var());
      CHECK(worst_error(x.grad(), of_std) < row.most_of_var());
      if (row.mean != 0 && row.size < root) continue;  // var is 0, and its mean rounded
      x.zero_grad();
      const Tensor v = x.var(0, biased);
      v.sum().backward();
      CHECK(worst_error(x.grad(), of_var) < row.most_of_var());
      if (row.size > root && row.size < 1 / root)
        CHECK(worst_error(v, {deviation * deviation}) < row.most_of_var());
    }
  });
}

TEST_CASE("var: one column far from 0 does not change the bits of the others") {
  manual_seed(2);
  const Tensor x = randn({5000, 4}), before = x.var(0);
  x.slice(1, 2, 3).copy_(x.slice(1, 2, 3) + 1e5);
  const Tensor after = x.var(0);
  for (const int i : {0, 1, 3}) CHECK((after[i] == before[i]).all());
  CHECK(after[2].item() == doctest::Approx(before[2].item()).epsilon(1e-3));
}

}  // namespace
}  // namespace gradus::test
