#include "gradus/nn/attention/detail/packing.h"

#include <algorithm>

#include "gradus/ops/ops.h"

namespace gradus::nn::detail {

std::optional<RealRows> RealRows::of(const Tensor& padding, std::int64_t batch, std::int64_t length) {
  if (padding.defined() && (padding.dtype() != boolean || padding.shape() != Shape{batch, length}))
    return std::nullopt;
  const Tensor mask = padding.defined() ? padding.contiguous() : zeros({batch, length}, boolean);
  const bool* row = mask.array().data<bool>();
  RealRows rows;
  rows.texts_ = {.begins = {0}, .length = length};
  std::vector<std::int64_t> places;
  for (std::int64_t b = 0; b < batch; ++b, row += length) {
    const bool* const end = std::find(row, row + length, true);
    if (std::find(end, row + length, false) != row + length) return std::nullopt;
    for (std::int64_t t = 0; t < end - row; ++t) places.push_back(b * length + t);
    rows.texts_.begins.push_back(std::ssize(places));
  }
  rows.places_ = from_vector(places, {std::ssize(places)});
  return rows;
}

Tensor RealRows::pack(const Tensor& x) const {
  return index_select(x.reshape({x.size(0) * x.size(1), x.size(2)}), 0, places_).unsqueeze(0);
}

Tensor RealRows::unpack(const Tensor& y) const {
  const std::int64_t batch = texts_.batch(), length = texts_.length, width = y.size(2);
  const Tensor padded = index_add(zeros({batch * length, width}, y.dtype()), 0, places_, y.select(0, 0));
  return padded.reshape({batch, length, width});
}

}  // namespace gradus::nn::detail
