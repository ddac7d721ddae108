// layer_norm and rms_norm.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

const Op full_layer_norm = [](const Tensor& x, const Tensor& w, const Tensor& b) {
  return layer_norm(x, w, b);
};
const Op plain_layer_norm = [](const Tensor& x) { return layer_norm(x); };
const Op full_rms_norm = [](const Tensor& x, const Tensor& w) { return rms_norm(x, w); };
const Op plain_rms_norm = [](const Tensor& x) { return rms_norm(x); };

/// Layer norm by its definition, from ops that are tested separately.
Tensor layer_norm_by_definition(const Tensor& x, const Tensor& w, const Tensor& b, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / sqrt(centred.square().mean(-1, true) + eps) * w + b;
}

/// d y_i / d x_j of layer norm without weight or bias.
std::vector<std::vector<double>> jacobian(const Tensor& values, double eps) {
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const Tensor x = leaf(values.clone());
    layer_norm(x, {}, {}, eps)[i].backward();
    rows.push_back(x.grad().to_vector<double>());
  }
  return rows;
}

TEST_CASE("layer_norm: gradients, layouts, threads") {
  for (const Shape& shape :
       {Shape{2}, {5}, {3, 4}, {2, 3, 6}, {2, 1, 2, 3}, {7, 33}, {0, 4}, {2, 0, 4}, {300, 70}}) {
    const Shape c{shape.back()};
    check_op("layer_norm", full_layer_norm, {shape, c, c}, {.rtol = 1e-5});
    check_op("layer_norm", plain_layer_norm, {shape}, {.rtol = 1e-5});
  }
  check_op("layer_norm", [](const Tensor& x, const Tensor& w) { return layer_norm(x, w); }, {{3, 4}, {4}});
  check_op("layer_norm", [](const Tensor& x, const Tensor& b) { return layer_norm(x, {}, b); },
           {{3, 4}, {4}});
  check_op("layer_norm", [](const Tensor& x) { return layer_norm(x, {}, {}, 0.5); }, {{3, 4}});
  check_op("layer_norm", full_layer_norm, {{3, 0}, {0}, {0}});
}

TEST_CASE("layer_norm: its value at [1, 0, 0, 0]") {
  const std::vector<float> y = layer_norm(tensor({1.0, 0.0, 0.0, 0.0})).to_vector<float>();
  CHECK(y[0] == doctest::Approx(1.7320).epsilon(1e-4));  // (1 - 1/4) / sqrt(3/16 + 1e-5): biased, eps inside
  CHECK(y[0] == doctest::Approx(0.75 / std::sqrt(0.1875 + 1e-5)).epsilon(1e-6));
  CHECK(y[1] == doctest::Approx(-0.25 / std::sqrt(0.1875 + 1e-5)).epsilon(1e-6));
}

TEST_CASE("layer_norm: equals its definition, values and gradients") {
  manual_seed(0);
  for (const Shape& shape : {Shape{6}, {5, 6}, {2, 3, 6}, {500, 6}}) {
    const Tensor x = leaf(randn(shape, f64)), w = leaf(randn({6}, f64)), b = leaf(randn({6}, f64));
    const Tensor seed = randn(shape, f64);
    layer_norm(x, w, b, 1e-3).backward(seed);
    const Tensors got{x.grad(), w.grad(), b.grad()};
    for (const Tensor& p : {x, w, b}) p.zero_grad();
    const Tensor expected = layer_norm_by_definition(x, w, b, 1e-3);
    expected.backward(seed);
    CHECK((layer_norm(x, w, b, 1e-3) - expected).abs().max().item() < 1e-13);
    CHECK((got[0] - x.grad()).abs().max().item() < 1e-12);
    CHECK((got[1] - w.grad()).abs().max().item() < 1e-11);
    CHECK((got[2] - b.grad()).abs().max().item() < 1e-11);
  }
}

TEST_CASE("layer_norm: puts rows on the sphere of radius sqrt(C) around 0, orthogonal to 1") {
  const Tensor y = layer_norm(randn({10, 64}, f64) * 5 + 3, {}, {}, 0);
  CHECK((y.norm(2, -1) - 8).abs().max().item() < 1e-12);
  CHECK(y.sum(-1).abs().max().item() < 1e-12);
}

TEST_CASE("layer_norm: the Jacobian is (I - 11^T / C - xhat xhat^T / C) / sigma") {
  manual_seed(1);
  const int c = 6;
  const Tensor x = randn({c}, f64);
  const std::vector<double> xhat = layer_norm(x, {}, {}, 0).to_vector<double>();
  const double sigma = std::sqrt(x.var({}, {.unbiased = false}).item());
  const auto rows = jacobian(x, 0);
  double worst = 0, along_one = 0, along_xhat = 0, without_sigma = 0;
  for (std::size_t i = 0; i < c; ++i) {
    double one = 0, hat = 0;
    for (std::size_t j = 0; j < c; ++j) {
      const double centring = (i == j ? 1.0 : 0.0) - 1.0 / c, scaling = xhat[i] * xhat[j] / c;
      worst = std::max(worst, std::abs(rows[i][j] - (centring - scaling) / sigma));
      without_sigma = std::max(without_sigma, std::abs(rows[i][j] - centring / sigma));
      one += rows[i][j];
      hat += rows[i][j] * xhat[j];
    }
    along_one = std::max(along_one, std::abs(one));
    along_xhat = std::max(along_xhat, std::abs(hat));
  }
  CHECK(worst < 1e-13);
  CHECK(along_one < 1e-13);     // adding a constant to x changes nothing
  CHECK(along_xhat < 1e-13);    // nor does scaling x about its mean: with 1, the rank is C - 2
  CHECK(without_sigma > 0.01);  // treating sigma as a constant is another function
}

TEST_CASE("layer_norm: a constant row gives its bias, with finite gradients") {
  for (const double value : {0.0, 3.1, 1e6}) {
    const Tensor x = leaf(full({2, 5}, value)), w = leaf(randn({5})), b = leaf(randn({5}));
    const Tensor y = layer_norm(x, w, b);
    CHECK(y[0].to_vector<float>() == b.to_vector<float>());
    y.backward(randn({2, 5}));
    for (const Tensor& p : {x, w, b})
      for (const float g : p.grad().to_vector<float>()) CHECK(std::isfinite(g));
    CHECK((w.grad() == 0).all());
  }
}

TEST_CASE("layer_norm: a large mean costs no more digits than f32 lacks there") {
  manual_seed(2);
  const Tensor deviations = randn({4, 256}, f64);
  const Tensor far = (deviations + 1000).to(f32);  // numbers near 1000 are 6.1e-5 apart
  const Tensor exact = layer_norm(far.to(f64));
  CHECK((layer_norm(far).to(f64) - exact).abs().max().item() < 6.2e-5);
}

TEST_CASE("rms_norm: gradients, layouts, threads") {
  for (const Shape& shape :
       {Shape{2}, {5}, {3, 4}, {2, 3, 6}, {2, 1, 2, 3}, {7, 33}, {0, 4}, {2, 0, 4}, {300, 70}}) {
    check_op("rms_norm", full_rms_norm, {shape, {shape.back()}}, {.rtol = 1e-5});
    check_op("rms_norm", plain_rms_norm, {shape}, {.rtol = 1e-5});
  }
  check_op("rms_norm", full_rms_norm, {{3, 0}, {0}});
}

TEST_CASE("rms_norm: equals its definition") {
  manual_seed(3);
  const Tensor x = leaf(randn({3, 4, 6}, f64)), w = leaf(randn({6}, f64)), seed = randn({3, 4, 6}, f64);
  rms_norm(x, w, 1e-3).backward(seed);
  const Tensor dx = x.grad(), dw = w.grad();
  x.zero_grad(), w.zero_grad();
  const Tensor expected = x / sqrt(x.square().mean(-1, true) + 1e-3) * w;
  expected.backward(seed);
  CHECK((rms_norm(x, w, 1e-3) - expected).abs().max().item() < 1e-14);
  CHECK((dx - x.grad()).abs().max().item() < 1e-13);
  CHECK((dw - w.grad()).abs().max().item() < 1e-12);
}

TEST_CASE("rms_norm: a row of zeros gives zeros, with finite gradients") {
  const Tensor x = leaf(zeros({2, 5})), w = leaf(randn({5}));
  const Tensor y = rms_norm(x, w);
  CHECK((y == 0).all());
  y.backward(randn({2, 5}));
  for (const float g : x.grad().to_vector<float>()) CHECK(std::isfinite(g));
}

TEST_CASE(
    "layer_norm, rms_norm: rows of any size, forward and backward, also where their squares leave the "
    "range") {
  manual_seed(4);
  const std::vector<Op> norms{
      [](const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x, w, b, 0); },
      [](const Tensor& x, const Tensor& w, const Tensor&) { return rms_norm(x, w, 0); }};
  for (const DType dtype : {f32, f64}) {
    const double most = dtype == f32 ? 2e-6 : 4e-15;
    const Tensor unit = randn({3, 64}, dtype), w = randn({64}, dtype), b = randn({64}, dtype),
                 dy = randn({3, 64}, dtype);
    const int top =
        dtype == f32 ? 124 : 1020;  // powers of 2: the numbers are the same but for their exponents
    for (const Op& norm : norms) {
      const auto run = [&](double size) {
        const Tensor x = leaf(unit * tensor({{1.0}, {size}, {1.0}}, dtype)), weight = leaf(w);
        const Tensor y = norm({x, weight, b})[0];
        y.backward(dy);
        return Tensors{y.detach(), x.grad() * tensor({{1.0}, {size}, {1.0}}, dtype), weight.grad()};
      };
      const Tensors expected = run(1);
      for (const double power : {-0.8, -0.6, -0.45, 0.45, 0.49, 0.51, 0.6, 0.8, 1.0}) {
        const double size = std::exp2(std::round(power * top));
        CAPTURE(size);
        const Tensors got = run(size);
        for (std::size_t i = 0; i < got.size(); ++i)
          CHECK((got[i] - expected[i]).abs().max().item() < most * expected[i].abs().max().item());
        for (const int row : {0, 2})  // ordinary ones keep their bits
          for (const std::size_t i : {0U, 1U}) CHECK((got[i][row] == expected[i][row]).all());
      }
    }
    CHECK((layer_norm(full({2, 5}, dtype == f32 ? 3e38 : 1.7e308, dtype)) == 0).all());
    const double huge = dtype == f32 ? 3e38 : 1.7e308;  // from the mean to it, and back: inf
    CHECK(allclose(layer_norm(tensor({huge, -huge, -huge, -huge}, dtype)),
                   layer_norm(tensor({1.0, -1.0, -1.0, -1.0}, dtype), {}, {}, 0), 1e-6));
    CHECK(isnan(layer_norm(tensor({1.0, NAN, 1e30}, dtype))).all());
    CHECK(isnan(rms_norm(tensor({1.0, NAN, 1e30}, dtype))).all());
    CHECK(isnan(layer_norm(tensor({1.0, INFINITY, 1e30}, dtype))).all());
  }
}

TEST_CASE("layer_norm, rms_norm: errors") {
  check_error(
      [] {
        layer_norm(zeros({2, 4}), zeros({3}));
      },
      "layer_norm: expects a weight [4] for x [2, 4], got [3]");
  check_error(
      [] {
        layer_norm(zeros({2, 4}), zeros({4}), zeros({2, 4}));
      },
      "layer_norm: expects a bias [4] for x [2, 4], got [2, 4]");
  check_error(
      [] {
        layer_norm(zeros({2, 4}), zeros({4}, f64));
      },
      "layer_norm: x and weight have different dtypes: f32 [2, 4] and f64 [4]: convert one with .to()");
  check_error(
      [] {
        layer_norm(zeros({2, 4}), zeros({4}), zeros({4}, f64));
      },
      "layer_norm: x and bias have different dtypes: f32 [2, 4] and f64 [4]: convert one with .to()");
  check_error([] { layer_norm(zeros({})); },
              "layer_norm: expects at least one axis to normalize over, got []");
  check_error(
      [] {
        layer_norm(zeros({2, 4}), {}, {}, -1e-5);
      },
      "layer_norm: expects eps of 0 or more, got -1e-05");
  check_error(
      [] {
        layer_norm(zeros({2, 4}), {}, {}, NAN);
      },
      "layer_norm: expects eps of 0 or more, got nan");
  check_error(
      [] {
        layer_norm(zeros({2, 4}, i64));
      },
      "layer_norm: expects f32 or f64, got i64 [2, 4]: convert with .to(f32)");
  check_error([] { layer_norm(Tensor()); }, "layer_norm" + kUndefined);
  check_error(
      [] {
        rms_norm(zeros({2, 4}), zeros({5}));
      },
      "rms_norm: expects a weight [4] for x [2, 4], got [5]");
  check_error(
      [] {
        rms_norm(zeros({2, 4}), zeros({4}, f64));
      },
      "rms_norm: x and weight have different dtypes: f32 [2, 4] and f64 [4]: convert one with .to()");
  check_error([] { rms_norm(zeros({})); }, "rms_norm: expects at least one axis to normalize over, got []");
  check_error([] { rms_norm(zeros({2, 4}), {}, -1); }, "rms_norm: expects eps of 0 or more, got -1");
  check_error(
      [] {
        rms_norm(zeros({2, 4}, i64));
      },
      "rms_norm: expects f32 or f64, got i64 [2, 4]: convert with .to(f32)");
  check_error([] { rms_norm(Tensor()); }, "rms_norm" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
