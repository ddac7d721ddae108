#include "gradus/text/pad_batch.h"

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"

namespace gradus::text {

PaddedBatch pad_batch(std::span<const Ids> rows, std::int64_t pad) {
  std::size_t longest = 0;
  for (const Ids& row : rows) longest = std::max(longest, row.size());
  check(longest > 0, "pad_batch: expects texts with tokens, got {} rows, all empty", rows.size());
  const Shape shape{std::ssize(rows), static_cast<std::int64_t>(longest)};
  PaddedBatch batch{full(shape, pad, i64), full(shape, true, boolean)};
  auto ids = batch.ids.mutable_span<std::int64_t>().begin();
  auto padding = batch.padding.mutable_span<bool>().begin();
  for (const Ids& row : rows) {
    std::copy(row.begin(), row.end(), ids);
    std::fill_n(padding, row.size(), false);
    ids += static_cast<std::ptrdiff_t>(longest), padding += static_cast<std::ptrdiff_t>(longest);
  }
  return batch;
}

}  // namespace gradus::text
