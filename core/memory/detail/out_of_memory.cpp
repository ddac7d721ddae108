#include "gradus/core/memory/detail/out_of_memory.h"

#include <atomic>
#include <new>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/memory/storage.h"

namespace gradus {
namespace {

std::atomic<std::new_handler> own_handler = nullptr;  // the program's own
std::atomic<const Error*> ready_made = nullptr;       // for when there is no memory for a message either

thread_local bool telling = false;

[[noreturn]] void tell() {
  // Making the message failed: copying this Error takes no memory.
  if (telling) throw Error(*ready_made.load());
  struct Telling {
    Telling() { telling = true; }
    ~Telling() { telling = false; }
  } const guard;
  const MemoryStats stats = memory_stats();
  fail_with(
      "out of memory: the system gives no more; arrays hold {}, the tape's nodes {}, and nothing is cached "
      "that "
      "could be given back: work with smaller arrays or batches, drop tensors whose tape nobody needs, or "
      "raise "
      "the limit on this process (ulimit -v)",
      human_bytes(static_cast<double>(stats.live_bytes)), human_bytes(static_cast<double>(stats.node_bytes)));
}

/// Returning means: try again.
void on_failing_new() {
  if (give_back_cached()) return;
  if (const std::new_handler own = own_handler) return own();
  tell();
}

}  // namespace

void handle_failing_new() {
  if (ready_made.load(std::memory_order_acquire)) return;
  const auto* const error = new Error(ErrorCalls::none("out of memory: work with smaller arrays or batches"));
  const Error* none = nullptr;
  if (ready_made.compare_exchange_strong(none, error))
    own_handler = std::set_new_handler(on_failing_new);
  else
    delete error;
}

}  // namespace gradus
