#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "ops/derivatives_of.h"
#include "values.h"

namespace gradus::test {
namespace {

struct Function {
  const char* name;
  Tensor (*f)(const Tensor&);
  double (*exact)(double);
  double low = -2, high = 2;
  std::vector<double> kinks = {};
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"neg", neg, [](double x) { return -x; }},
      {"abs", abs, [](double x) { return std::abs(x); }, -2, 2, {0}},
      {"square", square, [](double x) { return x * x; }},
      {"sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.2, 4},
      {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.2, 4},
      {"exp", exp, [](double x) { return std::exp(x); }},
      {"log", log, [](double x) { return std::log(x); }, 0.2, 4},
      {"log1p", log1p, [](double x) { return std::log1p(x); }, -0.8, 4},
      {"sin", sin, [](double x) { return std::sin(x); }, -7, 7},
      {"cos", cos, [](double x) { return std::cos(x); }, -7, 7},
      {"erf", erf, [](double x) { return std::erf(x); }},
      {"log2", log2, [](double x) { return std::log2(x); }, 0.2, 4},
      {"expm1", expm1, [](double x) { return std::expm1(x); }},
      {"reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.2, 4},
  };
  return all;
}

TEST_CASE("elementwise functions: gradients, layouts, threads, instruction sets") {
  for (const Function& function : functions()) {
    CAPTURE(function.name);
    for (const Shape& shape : odd_shapes())
      check_op(function.name, function.f, {Input(shape).between(function.low, function.high)},
               {.kinks = function.kinks});
  }
}

TEST_CASE("elementwise functions: values in f64") {
  for (const Function& function : functions()) {
    CAPTURE(function.name);
    const Tensor x = linspace(function.low, function.high, 101, f64), y = function.f(x);
    for (std::int64_t i = 0; i < 101; ++i)
      CHECK(y[i].item() == doctest::Approx(function.exact(x[i].item())).epsilon(1e-14));
  }
}

TEST_CASE("elementwise functions: the operator and the methods are the same ops") {
  const Tensor x = tensor({0.5, 2.0}, f64);
  CHECK(values(-x) == values(neg(x)));
  CHECK(values(x.abs()) == values(abs(x)));
  CHECK(values(x.square()) == values(square(x)));
  CHECK(values(x.sqrt()) == values(sqrt(x)));
  CHECK(values(x.exp()) == values(exp(x)));
  CHECK(values(x.log()) == values(log(x)));
  CHECK(values(x.pow(3)) == values(pow(x, 3)));
}

TEST_CASE("elementwise functions: special points") {
  for (const DType dtype : {f32, f64}) {
    const auto at = [dtype](Tensor (*f)(const Tensor&), double x) { return f(full({1}, x, dtype)).item(); };
    CHECK(at(log, 0) == -kInf);
    CHECK(std::isnan(at(log, -1)));
    CHECK(at(log, kInf) == kInf);
    CHECK(at(log1p, -1) == -kInf);
    CHECK(std::isnan(at(log1p, -2)));
    CHECK(at(log1p, 1e-20) == near(1e-20, 1e-6));
    CHECK(at(log2, 0) == -kInf);
    CHECK(std::isnan(at(log2, -1)));
    CHECK(at(log2, kInf) == kInf);
    CHECK(at(expm1, -kInf) == -1);
    CHECK(at(expm1, 1000) == kInf);
    CHECK(at(reciprocal, 0) == kInf);
    CHECK(std::isnan(at(sqrt, -1)));
    CHECK(at(sqrt, 0) == 0);
    CHECK(at(rsqrt, 0) == kInf);
    CHECK(std::isnan(at(rsqrt, -1)));
    CHECK(at(exp, -kInf) == 0);
    CHECK(at(exp, 1000) == kInf);
    CHECK(at(exp, 0) == 1);
    CHECK(at(abs, -kInf) == kInf);
    CHECK(std::isnan(at(sin, kInf)));
    CHECK(at(cos, 0) == 1);
    CHECK(at(erf, kInf) == 1);
    CHECK(at(erf, -kInf) == -1);
    for (const Function& function : functions()) {
      CAPTURE(function.name);
      CHECK(std::isnan(at(function.f, kNan)));
    }
  }
}

TEST_CASE("erf: derivatives of any order vanish far from 0, and are NaN at NaN") {
  for (const DType dtype : {f32, f64}) {
    const double huge = dtype == f32 ? 1e38 : 1e307;
    const Tensor x = leaf(tensor({28.0, -31.0, huge, -huge, kInf, -kInf, kNan}, dtype));
    for (const Values& d : derivatives_of(erf, x, 4)) {
      for (std::size_t i = 0; i < 6; ++i) CHECK(d[i] == 0);
      CHECK(std::isnan(d[6]));
    }
  }
}

TEST_CASE("abs: gradient 0 at 0") {
  Tensor x = tensor({-3.0, 0.0, 3.0}, f64).requires_grad_();
  sum(abs(x)).backward();
  CHECK(values(x.grad()) == Values{-1, 0, 1});
}

TEST_CASE("integers: neg, abs, square") {
  const Tensor x = tensor({-3, 0, 4});
  CHECK(neg(x).dtype() == i64);
  CHECK(values(neg(x)) == Values{3, 0, -4});
  CHECK(values(abs(x)) == Values{3, 0, 4});
  CHECK(values(square(x)) == Values{9, 0, 16});
}

TEST_CASE("elementwise functions: errors") {
  const Tensor ints = tensor({1, 2}), bools = tensor({true}), undefined;
  for (const Function& function : functions()) {
    const std::string name = function.name;
    check_error([&] { function.f(undefined); }, name + kUndefined);
    check_error([&] { function.f(bools); },
                name + ": expects f32 or f64, got bool [1]: convert with .to(f32)");
    if (name == "neg" || name == "abs" || name == "square") continue;
    check_error([&] { function.f(ints); }, name + ": expects f32 or f64, got i64 [2]: convert with .to(f32)");
  }
}

}  // namespace
}  // namespace gradus::test
