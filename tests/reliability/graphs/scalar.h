#pragma once
// Numbers that remember how they were computed, for the interpreter of random graphs: a formula per number,
// each of which has a derivative that is a formula again. Nothing here knows of tensors.
//
// Each number has a bound of its error: what the errors of its operands make of it to first order, and a few
// roundings of the library's dtype. Where a decision (a comparison, a branch) hangs on less than this, or a
// number leaves the range in which the bound holds, Unstable is thrown.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradus::test::graphs {

/// The graph cannot be checked: its result hangs on rounding.
struct Unstable {
  const char* why;
};

/// A number of the tape below.
struct Scalar {
  int id = -1;
};

enum class Formula : std::uint8_t {
  constant,
  copy,
  add,
  mul,
  exp,
  log,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  expm1,
  power,
  to_bf16,      // an operand of a product in bf16; its gradient is a result of such a product
  from_product  // a result of one; its gradient is an operand of such a product
};

/// All numbers of a graph, in the order in which they were made.
class ScalarTape {
 public:
  struct Entry {
    double value = 0, error = 0;
    double exponent = 0;  // of a power
    int a = -1, b = -1;   // the operands
    Formula formula = Formula::constant;
    double unit = 0;  // half a unit in the last place of 1, in the library's dtype
  };

  Entry& operator[](Scalar x) { return entries_[static_cast<std::size_t>(x.id)]; }
  std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }
  /// Forgets what was made since the tape had this size.
  void shrink(std::size_t size) { entries_.resize(size); }
  Scalar add(const Entry& entry);
  Scalar unary(Formula formula, Scalar a, double exponent = 0);
  Scalar rounded_to_bf16(Scalar a);
  Scalar binary(Formula formula, Scalar a, Scalar b);
  /// a + b as a part of a sum that the library may add in another order: its other partial sums are not
  /// larger than the operands here.
  Scalar partial_sum(Scalar a, Scalar b);

  using Seeds = std::vector<std::pair<Scalar, Scalar>>;  // a number and its gradient
  using Hook = std::function<Scalar(Scalar number, Scalar gradient)>;
  /// The gradients of all numbers, each complete when the hook may replace it; id -1 where none arrives.
  std::vector<Scalar> backward(const Seeds& seeds, const Hook& hook);

  double unit = 0;  // of the numbers that are made from now on

 private:
  Scalar converted(Scalar dy, double to);
  void pass_on(Scalar y, Scalar dy, std::vector<Scalar>& gradients);
  std::vector<Entry> entries_;
};

/// The tape of the running graph.
ScalarTape& tape();

double value_of(Scalar x);
Scalar constant(double value, double error = 0);
/// A number of its own with the value of x, or another one.
Scalar copy_of(Scalar x);
Scalar copy_of(Scalar x, double value);
Scalar to_bf16(Scalar x);

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b);
Scalar operator-(Scalar a);
inline Scalar operator+(Scalar a, double b) { return a + constant(b); }
inline Scalar operator-(Scalar a, double b) { return a + constant(-b); }
inline Scalar operator*(Scalar a, double b) { return a * constant(b); }
inline Scalar operator/(Scalar a, double b) { return a * constant(1 / b); }
inline Scalar operator+(double a, Scalar b) { return constant(a) + b; }
inline Scalar operator-(double a, Scalar b) { return constant(a) - b; }
inline Scalar operator*(double a, Scalar b) { return constant(a) * b; }
Scalar apply(Formula formula, Scalar a);
Scalar power(Scalar a, double exponent);

/// -1, 0 or 1: whether a is less than, equal to or more than b.
int compare(Scalar a, Scalar b);
inline int compare(Scalar a, double b) { return compare(a, constant(b)); }

}  // namespace gradus::test::graphs
