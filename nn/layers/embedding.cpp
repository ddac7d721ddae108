#include "gradus/nn/layers/embedding.h"

#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Embedding::Embedding(std::int64_t count, std::int64_t dim) : Module("Embedding") {
  expect_positive("Embedding", "count", count);
  expect_positive("Embedding", "dim", dim);
  weight = parameter("weight", init::normal_(empty({count, dim})));
}

Embedding::Embedding(const Parameter& shared) : Module("Embedding") {
  expect_table("Embedding", "[count, dim]", shared);
  weight = parameter("weight", shared);
}

Tensor Embedding::operator()(const Tensor& ids) const {
  const Scope scope(path());
  expect_ids("Embedding", "ids", ids);
  return embedding(ids, weight);
}

}  // namespace gradus::nn
