#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

struct Case {
  Shape shape;
  Axes axes;
};

/// Every pattern of axes a reduction can meet: rows, columns, groups, all, none, sizes 0 and 1.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{}, {}},
      {{7}, {}},
      {{7}, 0},
      {{3, 4}, 0},
      {{3, 4}, 1},
      {{3, 4}, {0, 1}},
      {{2, 3, 4}, {0, 2}},
      {{2, 3, 4}, 1},
      {{2, 3, 4}, {1, 2}},
      {{2, 3, 4}, {-2, 0}},
      {{1, 1}, 0},
      {{4, 1, 3}, 1},
      {{2, 3, 2, 3}, {0, 2}},
      {{70, 3}, 0},
      {{2, 130, 5}, 1},
      {{40, 1500}, 0},
      {{40, 1500}, 1},
      {{300, 200}, {}},
      {{9000}, 0},
      {{3, 9000}, 1},
  };
  return all;
}

using Reduce = Tensor (*)(const Tensor&, const Axes&, Flag);

void check_reduction(const std::string& name, Reduce f, const CheckOptions& options = {}) {
  for (const Case& c : cases())
    for (const bool keepdim : {false, true}) {
      CAPTURE(c.axes);
      check_op(
          name, [&](const Tensor& x) { return f(x, c.axes, keepdim); }, {c.shape}, options);
    }
}

TEST_CASE("sum, mean") {
  check_reduction("sum", sum);
  check_reduction("mean", mean);
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}})
    for (const std::int64_t axis : {0, -1}) {
      check_op("sum", [axis](const Tensor& x) { return sum(x, axis); }, {shape});
      check_op("mean", [axis](const Tensor& x) { return mean(x, axis); }, {shape});
    }
}

TEST_CASE("var") {
  for (const bool unbiased : {false, true})
    for (const Case& c : cases()) {
      std::int64_t n = 1;
      for (int i = 0; i < c.shape.size(); ++i) n *= c.shape[i];
      if (n == 1 || c.shape == Shape{4, 1, 3}) continue;  // variance of one element: see below
      check_op("var", [&](const Tensor& x) { return var(x, c.axes, {.unbiased = unbiased}); }, {c.shape});
      check_op("var",
               [&](const Tensor& x) { return var(x, c.axes, {.keepdim = true, .unbiased = unbiased}); },
               {c.shape});
    }
}

TEST_CASE("std") {
  for (const bool unbiased : {false, true})
    for (const Case& c : cases()) {
      if (numel(c.shape) == 1 || c.shape == Shape{4, 1, 3}) continue;  // of one element: see below
      for (const bool keepdim : {false, true})
        check_op("std",
                 [&](const Tensor& x) { return std(x, c.axes, {.keepdim = keepdim, .unbiased = unbiased}); },
                 {c.shape});
    }
}

TEST_CASE("std: known values, one element, equal ones, and numbers whose squares leave the range") {
  const Tensor x = tensor({1.0, 2.0, 4.0}, f64);
  CHECK(std(x).item() == doctest::Approx(std::sqrt(7.0 / 3)).epsilon(1e-15));
  CHECK(x.std({}, {.unbiased = false}).item() == doctest::Approx(std::sqrt(14.0 / 9)).epsilon(1e-15));
  CHECK(std::isnan(std(tensor({3.0})).item()));
  CHECK(std(tensor({3.0}), {}, {.unbiased = false}).item() == 0);
  CHECK(std(zeros({0})).item() != 0);  // NaN
  CHECK(std(tensor({1e7, 1e7 + 1, 1e7 + 2})).item() == 1);
  for (const DType dtype : {f32, f64}) {
    const double tiny = dtype == f32 ? 1e-30 : 1e-250, huge = dtype == f32 ? 1e38 : 1e308;
    for (const double size : {tiny, 1.0, huge}) {
      const Tensor y = leaf(tensor({-1.0, 0.0, 1.0, 0.5}, dtype) * size);
      const Tensor unit = leaf(tensor({-1.0, 0.0, 1.0, 0.5}, dtype));
      CHECK(std(y).item() / size == doctest::Approx(std(unit).item()).epsilon(1e-6));
      std(y).backward();
      std(unit).backward();
      CHECK(allclose(y.grad(), unit.grad(), 1e-6, 1e-7));
      CHECK(y.grad()[0].item() < -0.3);
    }
  }
  const Tensor flat = leaf(full({2, 3}, 0.1));
  CHECK(values(std(flat, 1)) == Values{0, 0});
  std(flat, 1).sum().backward();
  CHECK(values(flat.grad()) == Values(6, 0));
}

TEST_CASE("norm, logsumexp") {
  check_reduction("norm",
                  [](const Tensor& x, const Axes& axes, Flag keepdim) { return norm(x, 2, axes, keepdim); });
  check_reduction("logsumexp", logsumexp);
}

TEST_CASE("sum: every subset of four axes equals a plain loop") {
  const Tensor x = randn({3, 2, 4, 5}, f64);
  for (int subset = 1; subset < 16; ++subset) {
    Axes axes;
    for (int i = 0; i < 4; ++i)
      if (subset >> i & 1) axes.push_back(i);
    const Tensor y = sum(x, axes, /*keepdim=*/true);
    Tensor expected = zeros(y.shape(), f64);
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t c = 0; c < 4; ++c)
          for (std::int64_t d = 0; d < 5; ++d) {
            const auto at = [subset](int axis, std::int64_t i) { return subset >> axis & 1 ? 0 : i; };
            const Tensor cell = expected[at(0, a)][at(1, b)][at(2, c)][at(3, d)];
            cell.fill_(cell.item() + x[a][b][c][d].item());
          }
    CHECK(y.shape() == expected.shape());
    CHECK((y - expected).abs().max().item() < 1e-13);
    CHECK(values(sum(x, axes)) == values(y));
  }
}

TEST_CASE("sum, norm: over many rows of few columns, exact for whole numbers") {
  for (const std::int64_t columns : {2, 3, 7, 22, 31, 32, 33})
    for (const std::int64_t rows : {1, 5, 62, 63, 64, 65, 127, 1023, 2500}) {
      CAPTURE(columns);
      CAPTURE(rows);
      const Tensor numbers = randint(-4, 5, {2, rows, columns});
      std::vector<double> sums(static_cast<std::size_t>(2 * columns)), squares(sums.size());
      for (std::int64_t i = 0; i < numbers.numel(); ++i) {
        const double value = static_cast<double>(numbers.array().data<std::int64_t>()[i]);
        const auto at = static_cast<std::size_t>(i / (rows * columns) * columns + i % columns);
        sums[at] += value;
        squares[at] += value * value;
      }
      const Tensor sum_wanted = from_vector(sums, {2, columns}),
                   norm_wanted = sqrt(from_vector(squares, {2, columns}));
      for (const DType dtype : {f32, f64, i64}) CHECK((numbers.to(dtype).sum(1).to(f64) == sum_wanted).all());
      CHECK((norm(numbers.to(f64), 2, 1) == norm_wanted).all());
    }
}

TEST_CASE("reductions: shapes") {
  const Tensor x = ones({2, 3, 4});
  CHECK(sum(x).shape() == Shape{});
  CHECK(sum(x, {}, true).shape() == Shape{1, 1, 1});
  CHECK(sum(x, -1).shape() == Shape{2, 3});
  CHECK(sum(x, {0, 2}, true).shape() == Shape{1, 3, 1});
  CHECK(mean(x, 1).shape() == Shape{2, 4});
  CHECK(x.var({1, 2}).shape() == Shape{2});
  CHECK(x.norm(2, 0, true).shape() == Shape{1, 3, 4});
  CHECK(logsumexp(x, {0, 1, 2}).shape() == Shape{});
}

TEST_CASE("reductions of nothing") {
  const Tensor x = zeros({0, 3});
  CHECK(sum(x).item() == 0);
  CHECK(values(sum(x, 0)) == Values{0, 0, 0});
  CHECK(sum(x, 1).shape() == Shape{0});
  CHECK(std::isnan(mean(x).item()));
  for (const double v : values(mean(x, 0))) CHECK(std::isnan(v));
  for (const double v : values(var(x, 0))) CHECK(std::isnan(v));
  CHECK(norm(x).item() == 0);
  CHECK(logsumexp(x, 0)[0].item() == -kInf);
}

TEST_CASE("var: known values, one element, a large mean") {
  const Tensor x = tensor({1.0, 2.0, 4.0}, f64);
  CHECK(var(x).item() == doctest::Approx(7.0 / 3).epsilon(1e-15));
  CHECK(var(x, {}, {.unbiased = false}).item() == doctest::Approx(14.0 / 9).epsilon(1e-15));
  CHECK(std::isnan(var(tensor({3.0})).item()));
  CHECK(var(tensor({3.0}), {}, {.unbiased = false}).item() == 0);
  const Tensor shifted = tensor({10000.0, 10001.0, 10002.0});  // f32: squares would cancel
  CHECK(var(shifted).item() == 1);
}

TEST_CASE("mean, var and norm of numbers whose sums or squares leave the range") {
  for (const DType dtype : {f32, f64}) {
    const double huge = dtype == f32 ? 3e38 : 1.7e308, tiny = dtype == f32 ? 1e-30 : 1e-250;
    const auto close = [&](const Tensor& y, double wanted) {
      CHECK(y.dtype() == dtype);
      CHECK(y.item() / wanted == doctest::Approx(1).epsilon(dtype == f32 ? 1e-6 : 1e-14));
    };
    for (const int n : {1, 2, 3, 7, 1000}) {
      const Tensor x = full({n}, huge, dtype);
      CHECK((x.mean() == x[0]).all());
      CHECK(x.var({}, {.unbiased = false}).item() == 0);
      if (n > 1) CHECK(x.var().item() == 0);
      close(full({n}, huge / std::sqrt(n) / 1.01, dtype).norm(), huge / 1.01);
      close(full({n}, tiny, dtype).norm(), tiny * std::sqrt(n));
    }
    const double root = std::sqrt(huge) / 1.5;  // its square fits, the sum of a few does not
    const Tensor x = tensor({root, -root, root, -root, root, -root}, dtype);
    close(x.var({}, {.unbiased = false}), root * root);
    close(tensor({huge, huge, -huge, huge}, dtype).mean(), huge / 2);
    CHECK(std::isinf(tensor({huge, -huge}, dtype).var().item()));  // as it is
    CHECK(std::isinf(tensor({INFINITY, 1.0}, dtype).mean().item()));
    CHECK(std::isnan(tensor({INFINITY, 1.0}, dtype).var().item()));
    CHECK(std::isnan(tensor({NAN, huge}, dtype).mean().item()));
    CHECK(std::isnan(tensor({NAN, huge}, dtype).norm().item()));
    // The mean of equal numbers is one of them, though their sum is rounded; so are adjacent ones.
    for (const double c : {0.1, 1e10 / 3, -7e-5})
      CHECK(full({2, 7}, c, dtype).var(1).abs().max().item() == 0);
    const double step = dtype == f32 ? 1024 : 2, base = dtype == f32 ? 1e10 : 1e16;
    CHECK(tensor({base, base + step}, dtype).var().item() == step * step / 2);
    // Other rows keep their bits, and gradients are those of the formula.
    Tensor rows = randn({3, 8}, dtype);
    const Tensor before = rows.var(-1), norms = rows.norm(2, -1), means = rows.mean(-1);
    rows[1] = full({8}, huge, dtype);
    rows.requires_grad_();
    const Tensor after = rows.var(-1);
    for (const int i : {0, 2}) {
      CHECK((after[i] == before[i]).all());
      CHECK((rows.norm(2, -1)[i] == norms[i]).all());
      CHECK((rows.mean(-1)[i] == means[i]).all());
    }
    CHECK(after[1].item() == 0);
    after.sum().backward();
    CHECK(rows.grad()[1].abs().max().item() == 0);
    CHECK(rows.grad()[0].abs().max().item() > 0);
  }
}

TEST_CASE("norm: p is PyTorch's") {
  const Tensor x = tensor({{3.0, -4.0}, {-6.0, 8.0}}, f64);
  CHECK(x.norm(2, 1).to_vector<double>() == Values{5, 10});
  CHECK(x.norm(1, 1).to_vector<double>() == Values{7, 14});
  CHECK(x.norm(INFINITY, 0, true).to_vector<double>() == Values{6, 8});
  CHECK(x.norm(1).item() == 21);
  CHECK(x.norm(INFINITY).item() == 8);
  const auto gradient = [&](double p) {
    const Tensor leaf = x.clone().requires_grad_();
    leaf.norm(p, 1).sum().backward();
    return leaf.grad().to_vector<double>();
  };
  CHECK(gradient(1) == Values{1, -1, -1, 1});
  CHECK(gradient(INFINITY) == Values{0, -1, 0, 1});
  CHECK(allclose(from_vector(gradient(2), {4}), tensor({0.6, -0.8, -0.6, 0.8}, f64), 1e-15, 0));
  check_error([&] { x.norm(-1); },
              "norm: expects p = 1, 2 or INFINITY, got -1: axes come after it, as in norm(x, 2, -1)");
  check_error([&] { x.norm(true); },
              "norm: expects p = 1, 2 or INFINITY, got true: axes come after it, as in norm(x, 2, -1)");
  check_error([&] { x.norm(1, 2); }, "norm: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([] { zeros({2, 0}).norm(INFINITY, 1); }, "norm: p = inf of nothing: axes [1] of [2, 0]");
}

TEST_CASE("norm: gradient 0 at 0") {
  Tensor x = zeros({2, 3}, f64).requires_grad_();
  {
    NoGrad guard;
    x[1].fill_(2);
  }
  sum(norm(x, 2, 1)).backward();
  const double unit = 2 / std::sqrt(12.0);
  CHECK(x.grad()[0].abs().max().item() == 0);
  CHECK(x.grad()[1][0].item() == doctest::Approx(unit));
}

TEST_CASE("logsumexp: no overflow, infinities, NaN") {
  CHECK(logsumexp(tensor({1000.0, 1000.0}, f64), 0).item() ==
        doctest::Approx(1000 + std::log(2.0)).epsilon(1e-15));
  CHECK(logsumexp(tensor({-1000.0, -1000.0}), 0).item() == doctest::Approx(-1000 + std::log(2.0)));
  CHECK(logsumexp(tensor({kInf, 0.0}), 0).item() == kInf);
  CHECK(std::isnan(logsumexp(tensor({kNan, 0.0}), 0).item()));
  Tensor x = tensor({{-kInf, -kInf}, {-kInf, 0.0}}, f64).requires_grad_();
  const Tensor y = logsumexp(x, 1);
  CHECK(values(y) == Values{-kInf, 0});
  sum(y).backward();
  CHECK(values(x.grad()) == Values{0, 0, 0, 1});
}

TEST_CASE("logsumexp: the gradients of a row sum to 1 however large its values are") {
  for (const double size : {1e4, 1e7, 1e9, 1e20, -1e20})
    for (const std::int64_t n : {4, 100})
      for (const int axis : {0, 1}) {
        CAPTURE(size);
        Tensor x = full({n, n}, size).requires_grad_();
        sum(logsumexp(x, axis)).backward();
        CHECK((x.grad() * static_cast<double>(n) - 1.0).abs().max().item() < 1e-6);
        x.zero_grad();
        logsumexp(x, {0, 1}).backward();
        CHECK((x.grad() * static_cast<double>(n * n) - 1.0).abs().max().item() < 1e-6);
      }
}

TEST_CASE("sum: integers and bools count") {
  CHECK(sum(tensor({1, 2, 3})).dtype() == i64);
  CHECK(sum(tensor({1, 2, 3})).item() == 6);
  CHECK(values(sum(tensor({{1, 2}, {3, 4}}), 0)) == Values{4, 6});
  CHECK(sum(tensor({true, true, false})).dtype() == i64);
  CHECK(sum(tensor({true, true, false})).item() == 2);
  CHECK(sum(ones({200000}, boolean)).item() == 200000);
  CHECK(values(sum(ones({1000, 3}, i64), 0)) == Values{1000, 1000, 1000});
}

TEST_CASE("sum: rounding does not grow with the length") {
  const std::int64_t n = 1 << 22;  // added one by one in f32, this would be off by more than 1 %
  const double exact = static_cast<double>(0.1F) * static_cast<double>(n);
  CHECK(sum(full({n}, 0.1)).item() == doctest::Approx(exact).epsilon(5e-7));
  CHECK(sum(full({n / 4, 4}, 0.1), 0)[3].item() == doctest::Approx(exact / 4).epsilon(1e-6));
  CHECK(norm(full({n}, std::sqrt(0.1))).item() == doctest::Approx(std::sqrt(exact)).epsilon(5e-7));
}

TEST_CASE("sum of one element is a copy") {
  const Tensor x = tensor(3.0), y = sum(x);
  x.fill_(5);
  CHECK(y.item() == 3);
}

TEST_CASE("norm: the gradient of a row of any size is the row's direction") {
  Tensor x = tensor({{1e-40, 0.0}, {3.0, 4.0}, {3e38, 0.0}, {0.0, 0.0}});
  x.requires_grad_();
  norm(x, 2, -1).sum().backward();
  CHECK(allclose(x.grad(), tensor({{1.0, 0.0}, {0.6, 0.8}, {1.0, 0.0}, {0.0, 0.0}}), 1e-6, 0));
  x.zero_grad();
  (norm(x.slice(0, 0, 1)) * 1e10).backward();
  CHECK(x.grad()[0][0].item() == doctest::Approx(1e10));
}

TEST_CASE("reductions: errors") {
  const Tensor x = zeros({2, 3}), ints = tensor({1, 2}), undefined;
  check_error([&] { sum(x, 2); }, "sum: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { sum(x, {0, -2}); }, "sum: axis -2 is given twice in [0, -2]");
  check_error([&] { sum(zeros({}), 0); }, "sum: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { sum(undefined); }, "sum" + kUndefined);
  check_error([&] { mean(ints); }, "mean: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { mean(x > 0); }, "mean: expects f32 or f64, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { mean(x, -3); }, "mean: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { mean(undefined); }, "mean" + kUndefined);
  check_error([&] { var(ints); }, "var: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { var(x, {1, 1}); }, "var: axis 1 is given twice in [1, 1]");
  check_error([&] { var(undefined); }, "var" + kUndefined);
  check_error([&] { std(ints); }, "std: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { std(x, 5); }, "std: axis 5 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { std(undefined); }, "std" + kUndefined);
  check_error([&] { norm(ints); }, "norm: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { norm(x, 2, 5); }, "norm: axis 5 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { norm(undefined); }, "norm" + kUndefined);
  check_error([&] { logsumexp(ints, 0); },
              "logsumexp: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { logsumexp(x, 2); }, "logsumexp: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { logsumexp(undefined, 0); }, "logsumexp" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
