#include "gradus/data/text_windows.h"

#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {
namespace {

TensorArray<2> windows(const char* op, const Tensor& ids, Int context, Int stride) {
  if (!ids.defined()) fail_undefined(op, "ids");
  check(ids.dim() == 1 && ids.dtype() == i64, "{}: expects ids i64 [N], got {} {}", op, ids.dtype(),
        ids.shape());
  check(context >= 1 && stride >= 1, "{}: expects a context and a stride of 1 or more, got {} and {}", op,
        context, stride);
  const std::int64_t last = ids.size(0) - 1;
  check(context <= last,
        "{}: {} ids are too few for a window of {} and the token after it: expects {} or more, or a smaller "
        "context",
        op, last + 1, context, context == INT64_MAX ? context : Int(context + 1));
  return {unfold(slice(ids, 0, 0, last), 0, context, stride), unfold(slice(ids, 0, 1), 0, context, stride)};
}

}  // namespace

TensorArray<2> text_windows(const Tensor& ids, Int context, Int stride) {
  return windows("text_windows", ids, context, stride);
}

TensorArray<2> random_windows(const Tensor& ids, Int count, Int context, Generator& generator) {
  const auto [inputs, targets] = windows("random_windows", ids, context, 1);
  check(count >= 0, "random_windows: expects a count of 0 or more, got {}", count);
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < count; ++i) starts.push_back(generator.below(inputs.size(0)));
  const Tensor rows = from_vector(starts, {count});
  return {index_select(inputs, 0, rows), index_select(targets, 0, rows)};
}

}  // namespace gradus::data
