#include "gradus/data/text_windows.h"

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {

TensorArray<2> text_windows(const Tensor& ids, Int context, Int stride) {
  if (!ids.defined()) fail_undefined("text_windows", "ids");
  check(ids.dim() == 1 && ids.dtype() == i64, "text_windows: expects ids i64 [N], got {} {}", ids.dtype(),
        ids.shape());
  check(context >= 1 && stride >= 1,
        "text_windows: expects a context and a stride of 1 or more, got {} and {}", context, stride);
  const std::int64_t last = ids.size(0) - 1;
  check(
      context <= last,
      "text_windows: {} ids are too few for a window of {} and the token after it: expects {} or more, or a "
      "smaller context",
      last + 1, context, context == INT64_MAX ? context : Int(context + 1));
  return {unfold(slice(ids, 0, 0, last), 0, context, stride), unfold(slice(ids, 0, 1), 0, context, stride)};
}

}  // namespace gradus::data
