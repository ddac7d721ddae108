#include "gradus/nn/layers/dropout.h"

#include "gradus/core/array/detail/element.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Dropout::Dropout(double p) : Module("Dropout"), p_(p) { expect_probability("Dropout", "p", p); }

Tensor Dropout::operator()(const Tensor& x) const {
  const Scope scope(path());
  check(x.defined(), "Dropout: x is an undefined tensor");
  check_floating("Dropout", x.array(), "x");
  if (p_ == 0 || !is_training()) return report(x);
  return report(dropout(x, p_, /*training=*/true));
}

}  // namespace gradus::nn
