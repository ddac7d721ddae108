#include "gradus/data/detail/plan.h"

#include <algorithm>
#include <numeric>

#include "gradus/data/loader.h"

namespace gradus::data::detail {

namespace {

using I = std::int64_t;

Array counting(I begin, I end) {
  const Array result = Array::empty({end - begin}, i64);
  std::iota(result.mutable_data<I>(), result.mutable_data<I>() + (end - begin), begin);
  return result;
}

/// a b, or the largest I if that overflows; b is 1 or more.
I product(I a, I b) { return a > INT64_MAX / b ? INT64_MAX : a * b; }

/// The end of the longest piece that starts at `begin` and `fits` after each element added; at least one
/// element.
template <class Fits>
I grow(I begin, I end, Fits fits) {
  I stop = begin;
  while (stop < end && fits(stop)) ++stop;
  return std::max(stop, begin + 1);
}

/// The end of a pool, which holds the items, or tokens, of `bucket` batches.
I end_of_pool(const I* order, I begin, I items, const std::vector<I>& lengths,
              const DataLoaderOptions& options) {
  if (options.bucket == 0) return items;
  if (options.max_tokens == 0) {
    const I count = product(options.bucket, options.batch_size);
    return count < items - begin ? begin + count : items;
  }
  I left = product(options.bucket, options.max_tokens);
  return grow(begin, items, [&](I i) {
    left -= std::min(left, lengths[static_cast<std::size_t>(order[i])]);
    return left > 0;
  });
}

}  // namespace

Plan::Plan(I items, const std::vector<I>& lengths, const DataLoaderOptions& options, Generator order)
    : items_(items), batch_size_(options.batch_size) {
  size_ = items / batch_size_ + (items % batch_size_ != 0 && !options.drop_last);
  if (options.shuffle) order_ = random_permutation(items, order);
  if (lengths.empty()) return;
  if (!order_.defined()) order_ = counting(0, items);
  cut_by_length(lengths, options);
  size_ = static_cast<I>(batches_.size());
  if (!options.shuffle) return;
  const Array places = random_permutation(size_, order);
  std::vector<Range> shuffled;
  for (I i = 0; i < size_; ++i) shuffled.push_back(batches_[static_cast<std::size_t>(places.data<I>()[i])]);
  batches_ = std::move(shuffled);
}

void Plan::cut_by_length(const std::vector<I>& lengths, const DataLoaderOptions& options) {
  I* const order = order_.mutable_data<I>();
  const auto length = [&](I item) { return lengths[static_cast<std::size_t>(item)]; };
  for (I begin = 0; begin < items_;) {
    const I end = end_of_pool(order, begin, items_, lengths, options);
    if (options.bucket > 0)
      std::stable_sort(order + begin, order + end, [&](I a, I b) { return length(a) < length(b); });
    while (begin < end) {
      I longest = 0;
      const I stop = grow(begin, end, [&](I i) {
        longest = std::max(longest, length(order[i]));
        return options.max_tokens > 0 ? product(longest, i - begin + 1) <= options.max_tokens
                                      : i - begin < batch_size_;
      });
      if (!options.drop_last || stop - begin == batch_size_) batches_.emplace_back(begin, stop);
      begin = stop;
    }
  }
}

Array Plan::batch(I number) const {
  Range range;
  if (!batches_.empty()) {
    range = batches_[static_cast<std::size_t>(number)];
  } else {
    range.first = number * batch_size_;
    range.second = range.first + std::min(batch_size_, items_ - range.first);
  }
  return order_.defined() ? order_.slice(0, range.first, range.second) : counting(range.first, range.second);
}

}  // namespace gradus::data::detail
