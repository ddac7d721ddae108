#include "gradus/nn/dropout.h"

#include "gradus/nn/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Dropout::Dropout(double p) : Module("Dropout"), p_(p) { expect_probability("Dropout", "p", p); }

Tensor Dropout::operator()(const Tensor& x) const {
  if (p_ == 0 || !is_training()) return x;
  const Scope scope(path());
  return dropout(x, p_, /*training=*/true);
}

}  // namespace gradus::nn
