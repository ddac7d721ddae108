#include "gradus/distributed/detail/tree.h"

#include <bit>
#include <utility>

#include "gradus/core/check.h"

namespace gradus::distributed::detail {

void expect_power_of_two(const char* op, int ranks) {
  check(std::has_single_bit(static_cast<unsigned>(ranks)),
        "{}: expects 1, 2, 4, 8, ... ranks, got {}: sums are made in a binary tree, so that they do not "
        "depend on the number of ranks",
        op, ranks);
}

Bytes bytes_of(const Array& array, const Range& range) {
  const auto size = static_cast<std::int64_t>(size_of(array.dtype()));
  auto* const first = static_cast<std::byte*>(const_cast<void*>(array.raw()));
  return {first + range.begin * size, static_cast<std::size_t>(range.size() * size)};
}

Bytes bytes_of(const Array& array) { return bytes_of(array, {0, array.numel()}); }

TreeOperation::TreeOperation(Traffic& traffic, const Call& call, Array array, const Slices& slices,
                             Parts parts, Summed summed)
    : Operation(call),
      traffic_(traffic),
      array_(std::move(array)),
      slices_(slices),
      parts_(parts),
      summed_(std::move(summed)),
      stage_(parts == share ? Stage::sharing : Stage::summing),
      level_(parts == share ? slices.levels() - 1 : 0) {
  if (parts != share && slices.levels() > 0)
    arriving_ = Array::empty({slices.of(traffic.rank(), 1).size()}, array_.dtype(), name(call.kind));
}

TreeOperation::~TreeOperation() {
  if (stage_ != Stage::done) traffic_.interrupt(call_);
}

bool TreeOperation::poll() {
  for (;;) {
    if (under_way_) {
      if (!exchange_.done()) return false;
      end_message();
    }
    if (stage_ == Stage::summing) {
      if (level_ < slices_.levels()) {
        begin_message();
        continue;
      }
      stage_ = Stage::summed;
    }
    if (stage_ == Stage::summed) {
      const Range own = slices_.of(traffic_.rank());
      if (summed_ && !summed_(array_.slice(0, own.begin, own.end))) return false;
      stage_ = parts_ == sum ? Stage::done : Stage::sharing;
      level_ = slices_.levels() - 1;
    }
    if (stage_ == Stage::sharing) {
      if (level_ >= 0) {
        begin_message();
        continue;
      }
      stage_ = Stage::done;
    }
    arriving_ = Array();
    return true;
  }
}

/// Halving: sends the half that the partner will own, receives its terms of the half that is kept. Doubling:
/// sends what is owned, receives what the partner owns.
void TreeOperation::begin_message() {
  const int rank = traffic_.rank();
  peer_ = rank ^ (1 << level_);
  const Range own = slices_.of(rank, level_ + 1), others = slices_.of(peer_, level_ + 1);
  const bool summing = stage_ == Stage::summing;
  exchange_.begin_receive(traffic_.transport(), call_,
                          summing ? bytes_of(arriving_, {0, own.size()}) : bytes_of(array_, others), peer_);
  exchange_.begin_send(traffic_.transport(), call_, bytes_of(array_, summing ? others : own), peer_);
  under_way_ = true;
}

void TreeOperation::end_message() {
  under_way_ = false;
  if (stage_ == Stage::sharing) {
    --level_;
    return;
  }
  const Range own = slices_.of(traffic_.rank(), level_ + 1);
  if (own.size() > 0) array_.slice(0, own.begin, own.end).add_(arriving_.slice(0, 0, own.size()));
  ++level_;
}

}  // namespace gradus::distributed::detail
