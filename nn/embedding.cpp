#include "gradus/nn/embedding.h"

#include "gradus/core/format.h"
#include "gradus/nn/expect.h"
#include "gradus/nn/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Embedding::Embedding(std::int64_t count, std::int64_t dim) : Module("Embedding") {
  expect_positive("Embedding", "count", count);
  expect_positive("Embedding", "dim", dim);
  weight = parameter("weight", init::normal_(empty({count, dim})));
}

Tensor Embedding::operator()(const Tensor& ids) const {
  const Scope scope(path());
  check(ids.defined(), "Embedding: ids is an undefined tensor");
  check(ids.dtype() == i64, "Embedding: expects ids of i64, got {} {}: convert with .to(i64)", ids.dtype(),
        ids.shape());
  return embedding(ids, weight);
}

}  // namespace gradus::nn
