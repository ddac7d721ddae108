#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "ops/derivatives_of.h"
#include "values.h"

namespace gradus::test {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

struct Activation {
  const char* name;
  Tensor (*f)(const Tensor&);
  double (*exact)(double);
  double at_minus_infinity, at_infinity;
  std::vector<double> kinks = {};
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> all = {
      {"tanh", tanh, [](double x) { return std::tanh(x); }, -1, 1},
      {"sigmoid", sigmoid, sigmoid_of, 0, 1},
      {"relu", relu, [](double x) { return x > 0 ? x : 0; }, 0, kInf, {0}},
      {"silu", silu, [](double x) { return x * sigmoid_of(x); }, -0.0, kInf},
      {"gelu", [](const Tensor& x) { return gelu(x); },
       [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, -0.0, kInf},
      {"gelu", [](const Tensor& x) { return gelu(x, GeluForm::tanh); },
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
       -0.0, kInf},
      {"leaky_relu",
       [](const Tensor& x) { return leaky_relu(x, 0.0); },
       [](double x) { return x > 0 ? x : 0; },
       0,
       kInf,
       {0}},
      {"softplus", [](const Tensor& x) { return softplus(x); },
       [](double x) { return std::log1p(std::exp(x)); }, 0, kInf},
  };
  return all;
}

TEST_CASE("activations: gradients, layouts, threads, instruction sets") {
  for (const Activation& activation : activations()) {
    CAPTURE(activation.name);
    for (const Shape& shape : odd_shapes())
      check_op(activation.name, activation.f, {Input(shape).between(-4, 4)}, {.kinks = activation.kinks});
  }
}

TEST_CASE("activations: values in f64 and f32") {
  for (const Activation& activation : activations()) {
    CAPTURE(activation.name);
    const Tensor x = linspace(-6, 6, 121, f64), y = activation.f(x), y32 = activation.f(x.to(f32));
    for (std::int64_t i = 0; i < 121; ++i) {
      const double exact = activation.exact(x[i].item());
      CHECK(std::abs(y[i].item() - exact) <= 1e-14);
      CHECK(std::abs(y32[i].item() - exact) <= 1e-6);
    }
  }
}

TEST_CASE("activations: large arguments") {
  for (const DType dtype : {f32, f64})
    for (const Activation& activation : activations()) {
      CAPTURE(activation.name);
      Tensor x = tensor({-1e4, 1e4}, dtype).requires_grad_();
      const Tensor y = activation.f(x);
      CHECK(y[0].item() == activation.at_minus_infinity);
      CHECK(y[1].item() == (activation.at_infinity == kInf ? 1e4 : activation.at_infinity));
      sum(y).backward();
      CHECK(values(x.grad()) == Values{0, activation.at_infinity == kInf ? 1.0 : 0.0});
      CHECK(std::isnan(activation.f(full({1}, kNan, dtype)).item()));
    }
}

TEST_CASE("smooth activations: derivatives of any order are NaN at NaN, and far from 0 those of a line") {
  for (const DType dtype : {f32, f64})
    for (const Activation& activation : activations()) {
      if (!activation.kinks.empty()) continue;
      CAPTURE(activation.name);
      const Tensor x = leaf(tensor({kNan, -1e4, 1e4, -kInf, kInf}, dtype));
      const std::vector<Values> all = derivatives_of(activation.f, x, 4);
      for (std::size_t k = 0; k < all.size(); ++k) {
        CAPTURE(k);
        CHECK(std::isnan(all[k][0]));
        CHECK(all[k][1] == 0);
        CHECK(all[k][2] == (k == 0 && activation.at_infinity == kInf ? 1 : 0));
        if (k > 0) CHECK((all[k][3] == 0 && all[k][4] == 0));
      }
    }
}

TEST_CASE("activations: known values") {
  const Tensor one = tensor({1.0, -1.0, 0.0}, f64);
  CHECK(values(relu(one)) == Values{1, 0, 0});
  CHECK(gelu(one)[0].item() == doctest::Approx(0.84134474606854293).epsilon(1e-15));
  CHECK(gelu(one)[1].item() == doctest::Approx(-0.15865525393145707).epsilon(1e-15));
  CHECK(gelu(one, GeluForm::tanh)[0].item() == doctest::Approx(0.84119199060827676).epsilon(1e-15));
  CHECK(silu(one)[0].item() == doctest::Approx(0.73105857863000488).epsilon(1e-15));
  CHECK(sigmoid(one)[2].item() == 0.5);
}

TEST_CASE("relu: gradient 0 at 0; integers") {
  Tensor x = tensor({-1.0, 0.0, 2.0}, f64).requires_grad_();
  sum(relu(x)).backward();
  CHECK(values(x.grad()) == Values{0, 0, 1});
  CHECK(values(relu(tensor({-1, 0, 2}))) == Values{0, 0, 2});
}

TEST_CASE("leaky_relu: slopes, gradient at 0, NaN") {
  for (const double slope : {0.01, 0.5, -0.3})
    for (const Shape& shape : odd_shapes())
      check_op("leaky_relu", [=](const Tensor& x) { return leaky_relu(x, slope); }, {shape}, {.kinks = {0}});
  const Tensor x = leaf(tensor({-2.0, 0.0, 3.0}));
  const Tensor y = leaky_relu(x, 0.25);
  CHECK(values(y) == Values{-0.5, 0, 3});
  sum(y).backward();
  CHECK(values(x.grad()) == Values{0.25, 0.25, 1});
  CHECK(leaky_relu(tensor(-1.0, f64)).item() == -0.01);
  CHECK(std::isnan(leaky_relu(tensor(kNan)).item()));
}

TEST_CASE("softplus: neither overflows nor loses digits, for any beta") {
  for (const double beta : {0.5, 1.0, 3.0})
    for (const Shape& shape : odd_shapes())
      check_op("softplus", [=](const Tensor& x) { return softplus(x, beta); }, {shape});
  for (const double v : {-300.0, -40.0, -1.0, 0.0, 1.0, 19.0, 21.0, 40.0, 700.0})
    for (const double beta : {0.5, 1.0, 2.0}) {
      const double want = v * beta > 30 ? v : std::log1p(std::exp(beta * v)) / beta;
      CHECK(softplus(tensor(v, f64), beta).item() == near(want, 1e-14));
    }
  CHECK(softplus(tensor(-100.0, f64)).item() == near(std::exp(-100), 1e-14));
  CHECK(values(softplus(tensor({-kInf, kInf, 1e30}), 2)) == Values{0, kInf, static_cast<double>(1e30f)});
  check_error([] { softplus(zeros({2}), 0); }, "softplus: expects beta > 0, got 0");
  check_error([] { softplus(zeros({2}), kNan); }, "softplus: expects beta > 0, got nan");
}

TEST_CASE("activations: what is saved") {
  Tensor x = tensor({0.5, 1.0}).requires_grad_();
  const Tensor from_output = tanh(x), from_input = gelu(x);
  {
    NoGrad guard;
    x.fill_(0);
  }
  sum(from_output).backward();  // tanh kept its output: the change of x does not matter
  CHECK(x.grad()[0].item() == doctest::Approx(1 - std::tanh(0.5) * std::tanh(0.5)));
  check_error(
      [&] { sum(from_input).backward(); },
      "gelu backward: the f32 [2] it saved was changed in place after the forward pass: change it before the "
      "forward pass or after backward, or work on a clone()");
}

TEST_CASE("activations: errors") {
  const Tensor ints = tensor({1, 2}), bools = tensor({true}), undefined;
  for (const Activation& activation : activations()) {
    const std::string name = activation.name;
    check_error([&] { activation.f(undefined); }, name + kUndefined);
    check_error([&] { activation.f(bools); },
                name + ": expects f32 or f64, got bool [1]: convert with .to(f32)");
    if (name == "relu") continue;
    check_error([&] { activation.f(ints); },
                name + ": expects f32 or f64, got i64 [2]: convert with .to(f32)");
  }
}

}  // namespace
}  // namespace gradus::test
