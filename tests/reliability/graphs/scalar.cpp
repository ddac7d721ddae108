#include "reliability/graphs/scalar.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace gradus::test::graphs {

namespace {

constexpr double kRoundings = 4;  // of one formula, in the library's kernels
constexpr double kLargest = 1e6;

double valued(Formula formula, double a, double exponent) {
  switch (formula) {
    case Formula::copy:
    case Formula::from_product:
      return a;
    case Formula::exp:
      return std::exp(a);
    case Formula::log:
      return std::log(a);
    case Formula::sin:
      return std::sin(a);
    case Formula::cos:
      return std::cos(a);
    case Formula::tanh:
      return std::tanh(a);
    case Formula::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Formula::erf:
      return std::erf(a);
    case Formula::expm1:
      return std::expm1(a);
    case Formula::power:
      return std::pow(a, exponent);
    default:
      return NAN;
  }
}

/// The size of the derivative, for the error.
double steepness(Formula formula, double a, double y, double exponent) {
  switch (formula) {
    case Formula::copy:
      return 1;
    case Formula::exp:
      return y;
    case Formula::log:
      return 1 / std::abs(a);
    case Formula::sin:
    case Formula::cos:
    case Formula::tanh:
      return 1;
    case Formula::sigmoid:
      return y * (1 - y);
    case Formula::erf:
      return 2 * std::numbers::inv_sqrtpi * std::exp(-a * a);
    case Formula::expm1:
      return y + 1;
    case Formula::power:
      return std::abs(exponent * std::pow(a, exponent - 1));
    default:
      return NAN;
  }
}

/// The nearest number with eight significant bits, of two as near the even one.
double bf16_of(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace

ScalarTape& tape() {
  static thread_local ScalarTape one;
  return one;
}

Scalar ScalarTape::add(const Entry& entry) {
  if (!(std::abs(entry.value) <= kLargest)) throw Unstable{"a number leaves the range"};
  if (!(entry.error <= 1e-3 * (1 + std::abs(entry.value)))) throw Unstable{"a number is mostly rounding"};
  entries_.push_back(entry);
  entries_.back().unit = unit;
  return {static_cast<int>(entries_.size()) - 1};
}

Scalar ScalarTape::unary(Formula formula, Scalar x, double exponent) {
  const Entry a = (*this)[x];
  Entry y{.exponent = exponent, .a = x.id, .formula = formula};
  y.value = valued(formula, a.value, exponent);
  if (formula == Formula::copy || formula == Formula::from_product) {
    y.error = a.error;
  } else {
    // To first order: so the operand must be far from where the steepness changes much.
    const bool steeper_at_0 = formula == Formula::log || formula == Formula::power;
    if (a.error > (steeper_at_0 ? 0.05 * std::abs(a.value) : 1e-2))
      throw Unstable{"an operand is mostly rounding"};
    y.error = (a.error > 0 ? 1.1 * steepness(formula, a.value, y.value, exponent) * a.error : 0) +
              kRoundings * unit * std::abs(y.value);
  }
  if (formula != Formula::copy && a.formula == Formula::constant) y.formula = Formula::constant, y.a = -1;
  return add(y);
}

Scalar ScalarTape::rounded_to_bf16(Scalar x) {
  const Entry a = (*this)[x];
  if (bf16_of(a.value - 4 * a.error) != bf16_of(a.value + 4 * a.error))
    throw Unstable{"a rounding to bf16 hangs on rounding"};
  const bool varies = a.formula != Formula::constant;
  return add({.value = bf16_of(a.value),
              .a = varies ? x.id : -1,
              .formula = varies ? Formula::to_bf16 : Formula::constant});
}

Scalar ScalarTape::binary(Formula formula, Scalar x, Scalar z) {
  const Entry a = (*this)[x], b = (*this)[z];
  Entry y{.a = x.id, .b = z.id, .formula = formula};
  if (formula == Formula::add) {
    y.value = a.value + b.value;
    y.error = a.error + b.error;
  } else {
    y.value = a.value * b.value;
    y.error = std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  }
  const auto keeps = [&](double v) { return v == 0 || (formula == Formula::mul && std::abs(v) == 1); };
  const bool narrow = unit == 0x1p-24 && static_cast<double>(static_cast<float>(y.value)) != y.value;
  if (narrow || (!keeps(a.value) && !keeps(b.value))) y.error += 2 * unit * std::abs(y.value);
  if (a.formula == Formula::constant && b.formula == Formula::constant)
    y.formula = Formula::constant, y.a = y.b = -1;
  return add(y);
}

Scalar ScalarTape::partial_sum(Scalar x, Scalar z) {
  const double a = std::abs((*this)[x].value), b = std::abs((*this)[z].value);
  const Scalar y = binary(Formula::add, x, z);
  if (a != 0 && b != 0) (*this)[y].error += 2 * unit * std::max(a, b);
  return y;
}

std::vector<Scalar> ScalarTape::backward(const Seeds& seeds, const Hook& hook) {
  std::vector<Scalar> gradients(size());
  int newest = -1;
  const double before = unit;
  for (const auto& [y, dy] : seeds) {
    Scalar& total = gradients[static_cast<std::size_t>(y.id)];
    total = total.id < 0 ? dy : total + dy;
    newest = std::max(newest, y.id);
  }
  for (Scalar y{newest}; y.id >= 0; --y.id) {
    Scalar& dy = gradients[static_cast<std::size_t>(y.id)];
    if (dy.id < 0) continue;
    unit = (*this)[y].unit;
    dy = hook(y, dy);
    pass_on(y, dy, gradients);
  }
  unit = before;
  return gradients;
}

/// A gradient in the dtype of this unit.
Scalar ScalarTape::converted(Scalar dy, double to) {
  if (to == unit) return dy;
  const Entry from = (*this)[dy];
  const Scalar y = copy_of(dy);
  (*this)[y].error += to > unit ? to * std::abs(from.value) : 0;
  (*this)[y].unit = to;
  if (from.formula == Formula::constant) (*this)[y].formula = Formula::constant, (*this)[y].a = -1;
  return y;
}

void ScalarTape::pass_on(Scalar y, Scalar dy, std::vector<Scalar>& gradients) {
  const Entry entry = (*this)[y];
  const Scalar a{entry.a}, b{entry.b};
  const auto to = [&](Scalar x, auto gradient) {
    if ((*this)[x].formula == Formula::constant) return;
    Scalar& total = gradients[static_cast<std::size_t>(x.id)];
    const Scalar more = gradient();
    total = total.id < 0 ? more : partial_sum(total, more);
  };
  switch (entry.formula) {
    case Formula::constant:
      break;
    case Formula::copy:
      if (a.id >= 0) to(a, [&] { return converted(dy, (*this)[a].unit); });
      break;
    case Formula::add:
      to(a, [&] { return dy; });
      to(b, [&] { return dy; });
      break;
    case Formula::mul:
      to(a, [&] { return dy * b; });
      to(b, [&] { return dy * a; });
      break;
    case Formula::exp:
      to(a, [&] { return dy * y; });
      break;
    case Formula::log:
      to(a, [&] { return dy / a; });
      break;
    case Formula::sin:
      to(a, [&] { return dy * apply(Formula::cos, a); });
      break;
    case Formula::cos:
      to(a, [&] { return -(dy * apply(Formula::sin, a)); });
      break;
    case Formula::tanh:
      to(a, [&] { return dy * (1 - y * y); });
      break;
    case Formula::sigmoid:
      to(a, [&] { return dy * (y * (1 - y)); });
      break;
    case Formula::erf:
      to(a, [&] { return dy * (apply(Formula::exp, -(a * a)) * (2 * std::numbers::inv_sqrtpi)); });
      break;
    case Formula::expm1:
      to(a, [&] { return dy * (y + 1); });
      break;
    case Formula::to_bf16:
      to(a, [&] { return apply(Formula::from_product, dy); });
      break;
    case Formula::from_product:
      to(a, [&] { return rounded_to_bf16(dy); });
      break;
    case Formula::power:
      to(a, [&] { return dy * (entry.exponent * power(a, entry.exponent - 1)); });
      break;
  }
}

double value_of(Scalar x) { return tape()[x].value; }
Scalar constant(double value, double error) { return tape().add({.value = value, .error = error}); }
Scalar copy_of(Scalar x) { return tape().unary(Formula::copy, x); }
Scalar copy_of(Scalar x, double value) {
  return tape().add({.value = value, .a = x.id, .formula = Formula::copy});
}

Scalar to_bf16(Scalar x) { return tape().rounded_to_bf16(x); }

Scalar operator+(Scalar a, Scalar b) { return tape().binary(Formula::add, a, b); }
Scalar operator-(Scalar a, Scalar b) { return a + (-b); }
Scalar operator*(Scalar a, Scalar b) { return tape().binary(Formula::mul, a, b); }
Scalar operator/(Scalar a, Scalar b) { return a * power(b, -1); }
Scalar operator-(Scalar a) { return a * -1.0; }
Scalar apply(Formula formula, Scalar a) { return tape().unary(formula, a); }
Scalar power(Scalar a, double exponent) {
  return exponent == 0 ? constant(1) : tape().unary(Formula::power, a, exponent);
}

int compare(Scalar x, Scalar z) {
  const ScalarTape::Entry a = tape()[x], b = tape()[z];
  const double difference = a.value - b.value, error = 4 * (a.error + b.error);
  if (error > 0 && !(std::abs(difference) > error)) throw Unstable{"a choice hangs on rounding"};
  return difference < 0 ? -1 : difference > 0;
}

}  // namespace gradus::test::graphs
