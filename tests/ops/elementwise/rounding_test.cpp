// sign, floor, ceil and round: every result by the definition, and gradients that are defined and 0.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

struct Step {
  const char* name;
  Tensor (*f)(const Tensor&);
  double (*exact)(double);
};

const Step kSteps[] = {
    {"sign", sign, [](double x) { return x > 0   ? 1.0
                                         : x < 0 ? -1.0
                                                 : x; }},
    {"floor", floor, [](double x) { return std::floor(x); }},
    {"ceil", ceil, [](double x) { return std::ceil(x); }},
    {"round", round, [](double x) { return std::nearbyint(x); }},
};

TEST_CASE("sign, floor, ceil, round: gradients, layouts, threads, instruction sets") {
  for (const Step& step : kSteps)
    for (const Shape& shape : odd_shapes())
      check_op(step.name, step.f, {shape}, {.kinks = {-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2}});
}

TEST_CASE_TEMPLATE("sign, floor, ceil, round: halves, zeros, large numbers, infinities, NaN", T, float,
                   double) {
  const T limits[] = {0x1p22,
                      0x1p23,
                      0x1p24,
                      0x1p51,
                      0x1p52,
                      0x1p53,
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::infinity()};
  std::vector<T> x = {0, T(0.25), T(0.3), T(0.5), T(0.7), 1, T(1.5), T(2.5), T(3.5), T(2.4999)};
  for (const T v : limits)
    x.insert(x.end(), {v, v - T(0.5), v + T(0.5), v - 1, v + 1, std::nextafter(v, T(0))});
  const std::size_t half = x.size();
  for (std::size_t i = 0; i < half; ++i) x.push_back(-x[i]);
  const Tensor in = from_vector(x, {static_cast<std::int64_t>(x.size())});
  for (const Step& step : kSteps) {
    const std::vector<T> y = step.f(in).template to_vector<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(step.name);
      CAPTURE(x[i]);
      const T want = static_cast<T>(step.exact(static_cast<double>(x[i])));
      CHECK(y[i] == want);
      CHECK(std::signbit(y[i]) == std::signbit(want));
    }
    CHECK(std::isnan(step.f(full({1}, kNan, in.dtype())).item()));
  }
  CHECK(values(round(tensor({0.5, 1.5, 2.5, -0.5, -1.5}))) == Values{0, 2, 2, 0, -2});
}

TEST_CASE("sign, floor, ceil, round: integers, and the gradient 0") {
  const Tensor n = tensor({-3, 0, 5});
  CHECK(values(sign(n)) == Values{-1, 0, 1});
  for (const Step& step : kSteps) {
    CHECK(step.f(n).dtype() == i64);
    if (step.f != sign) CHECK(values(step.f(n)) == Values{-3, 0, 5});
    const Tensor x = leaf(tensor({-1.5, 0.0, 2.0}));
    step.f(x).sum().backward();
    CHECK(values(x.grad()) == Values{0, 0, 0});
    Tensor copy = step.f(n);
    copy += 1;
    CHECK(values(n) == Values{-3, 0, 5});
  }
}

TEST_CASE("log2: powers of 2 are exact; expm1: near 0") {
  for (const DType dtype : {f32, f64})
    for (int e = dtype == f32 ? -149 : -1074; e < (dtype == f32 ? 128 : 1024); ++e)
      CHECK(log2(full({1}, std::ldexp(1.0, e), dtype)).item() == e);
  CHECK(expm1(tensor(1e-20)).item<float>() == 1e-20f);
  CHECK(expm1(tensor(-1e-20, f64)).item() == -1e-20);
  CHECK(values(expm1(tensor({-kInf, kInf, 100.0}))) == Values{-1, kInf, kInf});
}

TEST_CASE("sign, floor, ceil, round: errors") {
  const Tensor undefined, flags = tensor({true});
  for (const Step& step : kSteps) {
    const std::string name = step.name;
    check_error([&] { step.f(undefined); }, name + kUndefined);
    check_error([&] { step.f(flags); }, name + ": expects f32 or f64, got bool [1]: convert with .to(f32)");
  }
}

}  // namespace
}  // namespace gradus::test
