#include "gradus/distributed/detail/tree.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "gradus/core/check.h"

namespace gradus::distributed::detail {

namespace {

std::int64_t piece_bytes = 1 << 20;

Range piece_of(const Range& half, std::int64_t piece, std::int64_t size) {
  const std::int64_t begin = std::min(half.begin + piece * size, half.end);
  return {begin, std::min(begin + size, half.end)};
}

}  // namespace

void expect_power_of_two(const char* op, int ranks) {
  check(std::has_single_bit(static_cast<unsigned>(ranks)),
        "{}: expects 1, 2, 4, 8, ... ranks, got {}: sums are made in a binary tree, so that they do not "
        "depend on the number of ranks",
        op, ranks);
}

void set_piece_of_sums(std::int64_t bytes) { piece_bytes = bytes; }

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
      level_(parts == share ? slices.levels() - 1 : 0),
      piece_(piece_bytes / static_cast<std::int64_t>(size_of(array_.dtype()))),
      own_{array_.numel(), static_cast<std::int64_t>(array_.dtype())} {
  traffic_.open(*this);
  if (parts != share && slices.levels() > 0)
    arriving_ = Array::empty({std::min(slices.of(traffic.rank(), 1).size(), kInFlight * piece_)},
                             array_.dtype(), name(call.kind));
}

TreeOperation::~TreeOperation() {
  traffic_.close(*this);
  if (stage_ != Stage::done) traffic_.interrupt(call_);
}

bool TreeOperation::poll() {
  if (stage_ == Stage::summing) {
    for (; level_ < slices_.levels(); ++level_)
      if (!exchange_halves()) return false;
    stage_ = Stage::summed;
  }
  if (stage_ == Stage::summed) {
    const Range own = slices_.of(traffic_.rank());
    if (summed_ && !summed_(array_.slice(0, own.begin, own.end))) return false;
    stage_ = parts_ == sum ? Stage::done : Stage::sharing;
    level_ = slices_.levels() - 1;
  }
  if (stage_ == Stage::sharing) {
    for (; level_ >= 0; --level_)
      if (!exchange_halves()) return false;
    stage_ = Stage::done;
  }
  arriving_ = Array();
  return true;
}

void TreeOperation::begin(std::int64_t piece, const Range& own, const Range& others) {
  const bool summing = stage_ == Stage::summing;
  const Range out = summing ? others : own, in = summing ? own : others;
  Exchange& exchange = in_flight_[static_cast<std::size_t>(piece % kInFlight)];
  // The first one of a level is sent even if it is empty: it says that this rank makes the same call.
  if (piece == 0 || in.size() > 0)
    exchange.begin_receive(traffic_.transport(), call_,
                           summing ? bytes_of(arriving(piece, in)) : bytes_of(array_, in), peer_);
  if (piece == 0 || out.size() > 0)
    exchange.begin_send(traffic_.transport(), call_, bytes_of(array_, out), peer_);
}

/// Where a piece of this rank's half arrives.
Array TreeOperation::arriving(std::int64_t piece, const Range& half) const {
  const std::int64_t first = piece % kInFlight * piece_;
  return arriving_.slice(0, first, first + half.size());
}

/// Whether all pieces of this level have come and gone. Of unequal halves, the smaller one has fewer pieces.
bool TreeOperation::exchange_halves() {
  const int rank = traffic_.rank();
  peer_ = rank ^ (1 << level_);
  const Range own = slices_.of(rank, level_ + 1), others = slices_.of(peer_, level_ + 1);
  const std::int64_t pieces =
      std::max<std::int64_t>((std::max(own.size(), others.size()) + piece_ - 1) / piece_, 1);
  // The way back goes to the same partners.
  const bool asks = stage_ == Stage::summing || parts_ == share;
  if (asks && begun_ == 0) {
    compared_.begin_receive(traffic_.transport(), call_, std::as_writable_bytes(std::span(peers_)), peer_);
    compared_.begin_send(traffic_.transport(), call_, std::as_bytes(std::span(own_)), peer_);
  }
  for (; ended_ < pieces; ++ended_, ++messages_) {
    for (; begun_ < std::min(pieces, ended_ + kInFlight); ++begun_)
      begin(begun_, piece_of(own, begun_, piece_), piece_of(others, begun_, piece_));
    if (asks && !peer_agrees()) return false;
    if (!in_flight_[static_cast<std::size_t>(ended_ % kInFlight)].done()) return false;
    if (const Range part = piece_of(own, ended_, piece_); stage_ == Stage::summing && part.size() > 0)
      array_.slice(0, part.begin, part.end).add_(arriving(ended_, part));
  }
  begun_ = ended_ = 0;
  agrees_ = false;
  return true;
}

/// Whether it is known that the partner sums as many elements of the same dtype; throws if it does not.
bool TreeOperation::peer_agrees() {
  if (agrees_) return true;
  if (!compared_.done()) return false;
  const auto of = [](const std::array<std::int64_t, 2>& x) { return gradus::name(static_cast<DType>(x[1])); };
  check(own_ == peers_,
        "{}: rank {} has {} elements of {}, rank {} has {} of {}: give all ranks the same shape and dtype",
        detail::name(call_.kind), traffic_.rank(), own_[0], of(own_), peer_, peers_[0], of(peers_));
  return agrees_ = true;
}

}  // namespace gradus::distributed::detail
