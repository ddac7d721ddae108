// x += y and similar: one pass over x's own memory.
//
// An in-place write is not recorded. If a gradient is wanted, x += y may still mean x = x + y: when x is not
// a leaf and nothing else holds its memory - no other handle, no view, nothing saved for backward - the two
// are indistinguishable.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Binary;

struct Rule {
  const char* op;
  Binary f;
};
constexpr Rule kRules[] = {{"operator+=", Binary::add},
                           {"operator-=", Binary::sub},
                           {"operator*=", Binary::mul},
                           {"operator/=", Binary::div}};

/// Throws unless x keeps its dtype and shape; y: undefined for a number.
void check_fits(const Rule& rule, const Array& x, const Array& y) {
  if (y.defined()) {
    array::check_operands(rule.op, x, y);
    check(broadcast_shapes(rule.op, x.shape(), y.shape()) == x.shape(),
          "{}: {} does not broadcast to x {}, whose shape stays: write x = x {} y", rule.op, y.shape(),
          x.shape(), rule.op[8]);
  }
  check(rule.f != Binary::div || x.dtype() != i64,
        "{}: / gives a fraction, and x {} stays i64: write x = floor_divide(x, y), or x = x / y", rule.op,
        x.shape());
}

}  // namespace

const Tensor& Tensor::update_in_place(Update kind, const TensorOrNumber& y) const {
  const Rule& rule = kRules[static_cast<int>(kind)];
  expect_writable(rule.op);
  if (!y.tensor_) {
    check_fits(rule, array_, Array());
    array::update(rule.op, rule.f, array_, y.number_);
    return *this;
  }
  if (!y.tensor_->defined()) fail_undefined(rule.op, "the second operand");
  check(!(y.tensor_->requires_grad() && grad_enabled()),
        "{}: the operand {} requires grad, and an in-place write is not recorded: write x = x {} y, or give "
        "it y.detach()",
        rule.op, y.tensor_->shape(), rule.op[8]);
  check_fits(rule, array_, y.tensor_->array_);
  array::update(rule.op, rule.f, array_, y.tensor_->array_);
  return *this;
}

Tensor& Tensor::update(Update kind, const TensorOrNumber& y) {
  const Rule& rule = kRules[static_cast<int>(kind)];
  const bool taped = grad_enabled() && (requires_grad() || (y.tensor_ && y.tensor_->requires_grad()));
  if (!taped || !defined() || (requires_grad() && is_leaf())) {
    update_in_place(kind, y);
    return *this;
  }
  if (y.tensor_ && !y.tensor_->defined()) fail_undefined(rule.op, "the second operand");
  check_fits(rule, array_, y.tensor_ ? y.tensor_->array_ : Array());
  check(array_.storage().unique(),
        "{}: another handle, a view or the tape holds the numbers of x {} too, and on the tape they are not "
        "changed in place: write x = x {} y",
        rule.op, shape(), rule.op[8]);
  const auto apply = [&](const auto& z) {
    switch (kind) {
      case Update::add:
        return *this + z;
      case Update::sub:
        return *this - z;
      case Update::mul:
        return *this * z;
      default:
        return *this / z;
    }
  };
  return *this = y.tensor_ ? apply(*y.tensor_) : apply(y.number_);
}

}  // namespace gradus
