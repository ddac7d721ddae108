#include "gradus/data/detail/collate.h"

#include "gradus/core/detail/format.h"

namespace gradus::data::detail {

namespace {

/// Throws unless all items have the dtype and shape of the first; with padding their first axes may differ.
void check_alike(const std::vector<Tensor>& items, std::span<const std::int64_t> numbers, std::size_t part,
                 bool padded) {
  const Tensor& first = items[0];
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Tensor& x = items[k];
    check(x.defined(), "DataLoader: part {} of item {} is an undefined tensor", part, numbers[k]);
    check(x.dtype() == first.dtype(),
          "DataLoader: part {} of item {} is {} {}, that of item {} {} {}: convert with .to()", part,
          numbers[k], x.dtype(), x.shape(), numbers[0], first.dtype(), first.shape());
    Shape shape = x.shape();
    if (padded && shape.size() == first.dim() && !shape.empty()) shape[0] = first.shape()[0];
    if (shape == first.shape()) continue;
    fail_with("DataLoader: part {} of item {} is {}, that of item {} {}: {}", part, numbers[k], x.shape(),
              numbers[0], first.shape(),
              padded ? "items are padded at the end of their first axis, and must agree in all others"
                     : "a batch stacks items of one shape; .pad = {0} lengthens first axes to the longest");
  }
  check(first.dim() < Dims::kMaxRank,
        "DataLoader: part {} of item {} is {}, which leaves no axis for the batch: flatten() it", part,
        numbers[0], first.shape());
}

}  // namespace

Tensor collate(const std::vector<Tensor>& items, std::span<const std::int64_t> numbers, std::size_t part,
               const Scalar* pad) {
  check_alike(items, numbers, part, pad != nullptr);
  Shape shape = items[0].shape();
  if (pad && !shape.empty())
    for (const Tensor& x : items) shape[0] = std::max(shape[0], x.shape()[0]);
  const std::int64_t longest = shape.empty() ? 0 : shape[0];
  shape.insert(0, static_cast<std::int64_t>(items.size()));
  const Array batch = Array::empty(shape, items[0].dtype(), "DataLoader");
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Array row = batch.select(0, static_cast<std::int64_t>(k)), &x = items[k].array();
    if (shape.size() == 1 || x.shape()[0] == longest) {
      row.copy_(x, "DataLoader");
    } else {
      row.slice(0, 0, x.shape()[0]).copy_(x, "DataLoader");
      row.slice(0, x.shape()[0]).fill_(*pad, "DataLoader: pad");
    }
  }
  return Tensor(batch);
}

}  // namespace gradus::data::detail
