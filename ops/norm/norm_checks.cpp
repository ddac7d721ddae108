#include "gradus/ops/norm/norm_checks.h"

#include "gradus/ops/detail/operand.h"

namespace gradus {

void check_norm(const char* op, const Tensor& x, double eps) {
  check(floating_operand(op, x).dim() > 0, "{}: expects at least one axis to normalize over, got {}", op,
        x.shape());
  check(eps >= 0, "{}: expects eps of 0 or more, got {}", op, eps);  // NaN fails too
}

void check_norm_parameter(const char* op, const char* name, const Tensor& parameter, const Tensor& x) {
  if (!parameter.defined()) return;
  check(parameter.shape() == Shape{x.size(-1)}, "{}: expects a {} [{}] for x {}, got {}", op, name,
        x.size(-1), x.shape(), parameter.shape());
  if (parameter.dtype() != x.dtype()) [[unlikely]]
    check_same_dtype(op, x.array(), parameter.array(), fmt::format("x and {}", name).c_str());
}

}  // namespace gradus
