#include "gradus/core/memory/detail/ledger.h"

#include <algorithm>
#include <mutex>

#include "gradus/core/threads/detail/locks.h"

namespace gradus::detail {

void Ledger::release() {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

/// Room for one more open block and for `accounts`. Memory is taken without the lock, since a new-handler of
/// the program may give arrays back, which are struck out; and beforehand, since striking out must not fail.
void Ledger::make_room(std::size_t accounts) {
  std::size_t blocks = 0;
  {
    const std::lock_guard guard(locks::ledgers);
    if (open_.size() == open_.capacity()) blocks = std::max<std::size_t>(16, 2 * open_.size());
    if (accounts <= std::min(state_.live.capacity(), state_.peak.capacity()))
      accounts = 0;
    else
      accounts = std::max(accounts, 2 * state_.live.size());
  }
  std::vector<Block*> open;
  std::vector<Balance> live, peak;
  open.reserve(blocks);
  live.reserve(accounts);
  peak.reserve(accounts);
  const std::lock_guard guard(locks::ledgers);  // given back before the old memory is
  const auto move_into = [](auto& larger, auto& now) {
    if (larger.capacity() <= now.capacity()) return;
    larger.assign(now.begin(), now.end());
    larger.swap(now);
  };
  move_into(open, open_);
  move_into(live, state_.live);
  move_into(peak, state_.peak);
}

Ledger::Balance& Ledger::balance(std::uint32_t account) {
  if (account >= state_.live.size()) state_.live.resize(account + 1);
  return state_.live[account];
}

/// The peak is copied late, just before something makes the present differ from it: while memory only grows,
/// as in a forward pass, nothing is copied.
void Ledger::fix_peak() {
  if (!peak_is_now_) return;
  state_.peak = state_.live;
  peak_is_now_ = false;
}

void Ledger::enter(Block* block) {
  make_room(kOpen + 1);
  const std::int64_t all = memory_stats().live_bytes;
  const std::lock_guard guard(locks::ledgers);
  Balance& open = balance(kOpen);
  open_.push_back(block);
  if (all <= state_.peak_bytes) fix_peak();
  open.bytes += static_cast<std::int64_t>(block->capacity);
  ++open.blocks;
  if (all > state_.peak_bytes) {
    state_.peak_bytes = all;
    peak_is_now_ = true;
  }
  block->ledger = this;
  block->account = kOpen;
  holders_.fetch_add(1, std::memory_order_relaxed);
}

void Ledger::strike(Block* block) {
  {
    const std::lock_guard guard(locks::ledgers);
    fix_peak();
    Balance& account = balance(block->account);
    account.bytes -= static_cast<std::int64_t>(block->capacity);
    --account.blocks;
    if (block->account == kOpen) std::erase(open_, block);
    block->ledger = nullptr;
  }
  release();
}

void Ledger::close(std::uint32_t account) {
  make_room(account + 1);
  const std::lock_guard guard(locks::ledgers);
  balance(account);
  for (Block* block : open_) {
    block->account = account;
    Balance& to = balance(account);
    Balance& from = balance(kOpen);
    from.bytes -= static_cast<std::int64_t>(block->capacity);
    to.bytes += static_cast<std::int64_t>(block->capacity);
    --from.blocks, ++to.blocks;
  }
  open_.clear();
  // A peak in the middle of the op: its memory at that time also belongs to the op.
  if (peak_is_now_ || state_.peak.empty()) return;
  if (account >= state_.peak.size()) state_.peak.resize(account + 1);
  state_.peak[account].bytes += state_.peak[kOpen].bytes;
  state_.peak[account].blocks += state_.peak[kOpen].blocks;
  state_.peak[kOpen] = {};
}

Ledger::State Ledger::state() {
  State copy;
  std::size_t accounts = 0;
  {
    const std::lock_guard guard(locks::ledgers);
    accounts = std::max(state_.live.size(), state_.peak.size());
  }
  copy.live.reserve(accounts);
  copy.peak.reserve(accounts);
  const std::lock_guard guard(locks::ledgers);
  fix_peak();
  copy = state_;  // takes no memory
  return copy;
}

void Ledger::reset_peak() {
  const std::int64_t all = memory_stats().live_bytes;
  const std::lock_guard guard(locks::ledgers);
  state_.peak_bytes = all;
  peak_is_now_ = true;
}

}  // namespace gradus::detail
