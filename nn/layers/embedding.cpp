#include "gradus/nn/layers/embedding.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Embedding::Embedding(std::int64_t count, std::int64_t dim, const EmbeddingOptions& options)
    : Module("Embedding"), padding_idx_(options.padding_idx) {
  expect_positive("Embedding", "count", count);
  expect_positive("Embedding", "dim", dim);
  const Tensor values = init::normal_(empty({count, dim}));
  if (padding_idx_) {
    check(*padding_idx_ >= 0 && *padding_idx_ < count, "Embedding: expects a padding_idx in 0 .. {}, got {}",
          count - 1, *padding_idx_);
    values.select(0, *padding_idx_).fill_(0);
  }
  weight = parameter("weight", values);
}

Embedding::Embedding(const Parameter& shared) : Module("Embedding") {
  expect_table("Embedding", "[count, dim]", shared);
  weight = parameter("weight", shared);
}

Tensor Embedding::operator()(const Tensor& ids) const {
  const Scope scope(path());
  expect_ids("Embedding", "ids", ids);
  if (is_half(weight.dtype())) return report(embedding(ids, weight).to(f32));  // padding has no gradient
  if (!padding_idx_) return report(embedding(ids, weight));
  // Rows of padding ids are detached from the tape.
  const Tensor rows = embedding(ids, weight);
  return report(where((ids == *padding_idx_).unsqueeze(-1), rows.detach(), rows));
}

}  // namespace gradus::nn
