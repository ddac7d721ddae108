#pragma once
// Attributes live memory to ops: one ledger per Profile, which the allocator fills in.
//
// Each block a watched thread takes is first entered under kOpen, since its purpose is known only when the op
// ends: close() then moves it to that op's account. It leaves when any thread frees it. Blocks keep the
// ledger alive: it may outlive its Profile.

#include <atomic>
#include <cstdint>
#include <vector>

#include "gradus/core/memory/detail/block.h"

namespace gradus::detail {

class Ledger {
 public:
  static constexpr std::uint32_t kOpen = 0;
  struct Balance {
    std::int64_t bytes = 0, blocks = 0;
  };
  struct State {
    std::vector<Balance> live, peak;  // by account
    std::int64_t peak_bytes = 0;      // of all memory, entered here or not
  };

  static Ledger* create() { return new Ledger; }
  /// Releases it: for its Profile, and for each block freed.
  void release();
  struct Release {
    void operator()(Ledger* ledger) const { ledger->release(); }
  };

  /// Watched thread: enters a fresh block.
  void enter(Block* block);
  /// Any thread: removes a freed block.
  void strike(Block* block);
  /// Watched thread: attributes the entries since the last call to `account`.
  void close(std::uint32_t account);

  State state();
  /// Resets the peak to the live memory.
  void reset_peak();

 private:
  void make_room(std::size_t accounts);
  void fix_peak();
  Balance& balance(std::uint32_t account);

  // All but the count of holders is guarded by locks::ledgers.
  State state_;
  bool peak_is_now_ = false;  // nothing was freed since the peak: state_.peak is yet to be copied
  std::vector<Block*> open_;
  std::atomic<std::int64_t> holders_{1};
};

/// The ledger for blocks this thread takes, or null: set by the active Profile.
inline constinit thread_local Ledger* thread_ledger = nullptr;

}  // namespace gradus::detail
