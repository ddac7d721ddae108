#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::kInf;
using gradus::test::kUndefined;
using gradus::test::leaf;
using gradus::test::Values;

TEST_CASE("normalize divides by the length") {
  const Tensor x = tensor({{3.0, 4.0}, {0.0, 0.0}, {-6.0, 8.0}}, f64);
  CHECK(normalize(x, 2, -1).to_vector<double>() == Values{0.6, 0.8, 0, 0, -0.6, 0.8});
  CHECK(normalize(x.slice(0, 0, 1), 1, 1).to_vector<double>() == Values{3 / 7.0, 4 / 7.0});
  CHECK(normalize(x, kInf, 1).to_vector<double>() == Values{0.75, 1, 0, 0, -0.75, 1});
  CHECK(normalize(x.t(), 2, 0).shape() == Shape{2, 3});
  CHECK(normalize(tensor({3.0, 4.0}, f64), 2, 0, 10).to_vector<double>() == Values{0.3, 0.4});  // |x| < eps
  CHECK(normalize(zeros({2, 0}), 2, 1).shape() == Shape{2, 0});
  CHECK(normalize(zeros({0, 2}), kInf, 0).shape() == Shape{0, 2});
}

TEST_CASE("cosine_similarity is 1 for vectors that point one way") {
  const Tensor a = tensor({{3.0, 4.0}, {1.0, 0.0}, {0.0, 0.0}}, f64);
  CHECK(cosine_similarity(a, a * 2.5, 1).to_vector<double>()[0] == doctest::Approx(1).epsilon(1e-15));
  CHECK(cosine_similarity(a, tensor({0.0, -2.0}, f64), -1).to_vector<double>() == Values{-0.8, 0, 0});
  CHECK(cosine_similarity(a.unsqueeze(1), a.unsqueeze(0), 2).shape() == Shape{3, 3});
  CHECK(cosine_similarity(zeros({2, 0}), zeros({2, 0}), 1).to_vector<double>() == Values{0, 0});
}

TEST_CASE("gradients of normalize and cosine_similarity") {
  for (const double p : {1.0, 2.0, kInf}) {
    const auto rows = [p](const Tensor& x) { return normalize(x, p, -1); };
    check_op("normalize", rows, {{3, 4}}, {.kinks = {0}});
    check_op("normalize", rows, {{2, 0}});
  }
  check_op("normalize", [](const Tensor& x) { return normalize(x, 2, 1); }, {{2, 3, 4}});
  check_op("normalize", [](const Tensor& x) { return normalize(x, 2, 0, 100); }, {{5, 3}});
  check_op("normalize", [](const Tensor& x) { return normalize(x, 2, -1); }, {{300, 200}});
  const auto similar = [](const Tensor& a, const Tensor& b) { return cosine_similarity(a, b, 1); };
  check_op("cosine_similarity", similar, {{3, 4}, {3, 4}});
  check_op("cosine_similarity", similar, {{3, 4}, {4}});
  check_op("cosine_similarity", similar, {{2, 5, 3}, {1, 5, 1}});
  check_op("cosine_similarity", similar, {{300, 200}, {300, 200}});
  // A vector of zeros has no direction, and passes no NaN back.
  const Tensor zero = leaf(zeros({3}));
  normalize(zero, 2, 0).sum().backward();
  CHECK_FALSE((zero.grad() != zero.grad()).any());
}

TEST_CASE("normalize and cosine_similarity: vectors longer than their dtype can tell") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype == f32);
    const double big = dtype == f32 ? 3e38 : 1.7e308;
    const Tensor signs = tensor({{1.0, -1.0, 1.0, 1.0}, {3.0, 0.0, 4.0, 0.0}}).to(dtype);
    const Tensor x = leaf(signs * tensor({{big}, {1.0}}, dtype));
    for (const double p : {1.0, 2.0}) {
      const Tensor y = normalize(x, p, 1),
                   expected = signs / tensor({{p == 1 ? 4.0 : 2.0}, {p == 1 ? 7.0 : 5.0}}, dtype);
      CHECK(allclose(y, expected, 1e-6, 0));
      x.zero_grad();
      (y * tensor({1.0, 2.0, 3.0, 4.0}).to(dtype)).sum().backward();
      CHECK(isfinite(x.grad()).all());
      const Tensor small = leaf(signs[1].clone());  // the ordinary vector has the bits it has alone
      (normalize(small, p, 0) * tensor({1.0, 2.0, 3.0, 4.0}).to(dtype)).sum().backward();
      CHECK(equal(x.grad()[1], small.grad()));
    }
    CHECK(cosine_similarity(x.detach()[0], full({4}, big, dtype), 0).item() == doctest::Approx(0.5));
  }
}

TEST_CASE("normalize and cosine_similarity: errors") {
  const Tensor x = zeros({2, 3});
  check_error([&] { normalize(Tensor(), 2, 0); }, "normalize" + kUndefined);
  check_error(
      [&] { normalize(x, -1, 0); },
      "normalize: expects p = 1, 2 or INFINITY, got -1: the axis comes after it, as in normalize(x, 2, "
      "-1)");
  check_error([&] { normalize(x, 2, 2); }, "normalize: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { normalize(x, 2, 0, -1); }, "normalize: expects eps of 0 or more, got -1");
  check_error([&] { normalize(x.to(i64), 2, 0); },
              "normalize: expects f32 or f64, got i64 [2, 3]: convert with .to(f32)");
  check_error(
      [&] { cosine_similarity(x, Tensor(), 0); },
      "cosine_similarity: the second operand is undefined: assign it first; a grad() is undefined before "
      "backward");
  check_error([&] { cosine_similarity(x, zeros({2}), 1); },
              "cosine_similarity: shapes [2, 3] and [2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error(
      [&] { cosine_similarity(x, x.to(f64), 1); },
      "cosine_similarity: operands have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with "
      ".to()");
  check_error([&] { cosine_similarity(x, x, 3); },
              "cosine_similarity: axis 3 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { cosine_similarity(x, x, 1, kInf); },
              "cosine_similarity: expects eps of 0 or more, got inf");
}
