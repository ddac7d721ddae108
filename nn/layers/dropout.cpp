#include "gradus/nn/layers/dropout.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Dropout::Dropout(double p) : Module("Dropout"), p_(p) { expect_probability("Dropout", "p", p); }

Tensor Dropout::operator()(const Tensor& x) const {
  const Scope scope(path());
  check(x.defined(), "Dropout: x is an undefined tensor");
  check(is_floating(x.dtype()), "Dropout: expects x of f32 or f64, got {} {}: convert with .to(f32)",
        x.dtype(), x.shape());
  if (p_ == 0 || !is_training()) return x;
  return dropout(x, p_, /*training=*/true);
}

}  // namespace gradus::nn
