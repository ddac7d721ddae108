// layer_norm and rms_norm of numerically difficult rows, against long double.
#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "exact_rows.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("layer_norm, rms_norm: any finite row gives the result of long double, also for gradients") {
  for_each_hard_row([](const HardRow& row) {
    for (const int n : {2, 7, 70, 1031})
      for (const bool about_mean : {true, false}) {
        CAPTURE(n);
        CAPTURE(about_mean);
        const Tensor x = leaf(row.x(n)), w = leaf(randn({n}, row.dtype)), b = leaf(randn({n}, row.dtype));
        const Tensor dy = row.dy(n);
        const Tensor y = about_mean ? layer_norm(x, w, b, row.eps) : rms_norm(x, w, row.eps);
        y.backward(dy);
        const Exact gain = exact(w), bias = exact(b), seed = exact(dy);
        Exact dn = seed, wanted, dw = seed;
        for (std::size_t i = 0; i < dn.size(); ++i) dn[i] *= gain[i];
        const ExactNorm of = exact_norm(exact(x), dn, row.eps, about_mean);
        for (std::size_t i = 0; i < dn.size(); ++i) {
          wanted.push_back(of.xhat[i] * gain[i] + (about_mean ? bias[i] : 0));
          dw[i] *= of.xhat[i];
        }
        CHECK(worst_error(y, wanted) < row.most());
        // Of two elements only eps keeps dx from 0: what cancels is as large as dn rstd.
        if (n > 2) CHECK(worst_error(x.grad(), of.dx) < row.most());
        CHECK(worst_error(w.grad(), dw) < row.most());
        if (about_mean) CHECK((b.grad() == dy).all());
      }
  });
}

TEST_CASE("layer_norm: deviations from a mean that the dtype cannot represent") {
  const Tensor x = leaf(arange(0, 8, 1, f32) + 1e7);
  CHECK((layer_norm(x) - layer_norm(arange(0, 8, 1, f32))).abs().max().item() < 1e-6);
}

TEST_CASE("layer_norm: x - mean may overflow, forward and backward") {
  for (const DType dtype : {f32, f64}) {
    const double huge = dtype == f32 ? 3.4e38 : 1.79e308, dy_size = dtype == f32 ? 1e10 : 1e100;
    const Tensor x = leaf(tensor({huge, -huge, -huge, -huge, 0.0}, dtype));
    const Tensor dy = tensor({1.0, -2.0, 0.5, 3.0, 0.25}, dtype) * dy_size;
    const Tensor y = layer_norm(x, {}, {}, 0);
    y.backward(dy);
    const ExactNorm of = exact_norm(exact(x), exact(dy), 0, true);
    CHECK(worst_error(y, of.xhat) < (dtype == f32 ? 1e-6 : 4e-15));
    CHECK(worst_error(x.grad(), of.dx) < (dtype == f32 ? 1e-6 : 4e-15));
  }
}

TEST_CASE(
    "layer_norm: the gradient of a constant row is dy - mean(dy) over sqrt(eps), however large the row") {
  struct Case {
    DType dtype;
    double value, eps;
  };
  for (const Case& c : {Case{f64, 1e155, 1e-300},
                        {f64, 1.7e308, 1e-5},
                        {f64, 0.1, 1e-300},
                        {f32, 1e10, 1e-5},
                        {f32, 0.1, 1e-30},
                        {f32, 3e38, 1e-5},
                        {f32, 1e-40, 1e-5}}) {
    CAPTURE(c.value);
    const Tensor x = leaf(full({7}, c.value, c.dtype)), dy = randn({7}, c.dtype);
    const Tensor y = layer_norm(x, {}, {}, c.eps);
    y.backward(dy);
    CHECK((y == 0).all());
    Exact wanted = centred(exact(dy));
    for (long double& v : wanted) v /= std::sqrt(static_cast<long double>(c.eps));
    CHECK(worst_error(x.grad(), wanted) < (c.dtype == f32 ? 1e-6 : 4e-15));
  }
  CHECK(isnan(layer_norm(full({7}, 2.0), {}, {}, 0)).all());
  CHECK(isnan(rms_norm(zeros({7}), {}, 0)).all());
}

TEST_CASE("layer_norm, rms_norm: second derivatives of difficult rows in f32 are those of f64") {
  struct Case {
    double deviation, mean;
  };
  for (const Case& c :
       {Case{1, 0}, {1, 1e6}, {1e-30, 0}, {1e-30, 1e-27}, {1e30, 0}, {1e30, -3e32}, {1e36, 3e37}})
    for (const bool about_mean : {true, false}) {
      CAPTURE(c.deviation);
      CAPTURE(c.mean);
      CAPTURE(about_mean);
      manual_seed(8);
      const Tensor values = (randn({2, 33}, f64) * c.deviation + c.mean).to(f32);
      // Of the size of 1 / rstd: then so is the result.
      const double size = about_mean ? c.deviation : c.deviation + std::abs(c.mean);
      const Tensor w = randn({33}, f32), dy = (randn({2, 33}, f64) * size).to(f32),
                   v = (randn({2, 33}, f64) * size).to(f32);
      const auto second = [&](DType dtype) {
        const Tensor x = leaf(values.to(dtype)), weight = leaf(w.to(dtype)), seed = leaf(dy.to(dtype));
        const Tensor y = about_mean ? layer_norm(x, weight, {}, 0) : rms_norm(x, weight, 0);
        const Tensor dx = grad(y, {x}, {.grad_output = seed, .create_graph = true})[0];
        std::vector<Tensor> found = grad((dx * v.to(dtype)).sum(), {x, weight, seed});
        for (Tensor& t : found) t = t.to(f64);
        return found;
      };
      const std::vector<Tensor> got = second(f32), wanted = second(f64);
      for (const std::size_t i : {0U, 1U, 2U})
        CHECK(((got[i] - wanted[i]).norm() / wanted[i].norm()).item() < 3e-6);
    }
}

TEST_CASE("layer_norm, rms_norm: difficult rows, NaN and infinity do not change the bits of other rows") {
  manual_seed(6);
  for (const DType dtype : {f32, f64})
    for (const double hard : {1e-39, 3e38, 1e7, static_cast<double>(NAN), static_cast<double>(INFINITY)})
      for (const bool about_mean : {true, false}) {
        CAPTURE(hard);
        const Tensor ordinary = randn({6, 40}, dtype), dy = randn({6, 40}, dtype);
        const auto run = [&](const Tensor& values) {
          const Tensor x = leaf(values.clone());
          const Tensor y = about_mean ? layer_norm(x, {}, {}, 0) : rms_norm(x, {}, 0);
          y.backward(dy);
          return Tensors{y.detach(), x.grad()};
        };
        const Tensor mixed = ordinary.clone();
        for (const int row : {0, 3, 4}) mixed[row].fill_(hard), mixed[row][1].fill_(hard / 2);
        const Tensors expected = run(ordinary), got = run(mixed);
        for (const std::size_t i : {0U, 1U}) {
          for (const int row : {1, 2, 5}) CHECK((got[i][row] == expected[i][row]).all());
          CHECK(isnan(got[i][3]).any() == !std::isfinite(hard));
        }
      }
}

}  // namespace
}  // namespace gradus::test
