#pragma once
// Profile: where a program's time and memory go, op by op.
//
//   Profile profile;                              // watches this thread until the end of the scope
//   for (int step = 0; step < 10; ++step) train_step();
//   std::cout << profile.table() << profile.memory_table();
//   profile.write_chrome_trace("trace.json");     // for ui.perfetto.dev or chrome://tracing
//
// A ProfileRange (core/profile/watch.h) gives a part of a program its own row.
//
// Accounting: time is cut into laps without gaps, so all rows add up to 100%: when an op ends, it is charged
// the time since the previous one ended, including framework and caller time in between. A lap also ends,
// charged to the enclosing range or to "(outside ops)", where an outermost module begins, where a range
// begins, and around each op's backward. An op made of other ops is charged only the time outside them.
// FLOPs are those of matrix products, 2 M N K, and of attention, for the pairs that may be seen. Bytes are
// those of an op's inputs and output, in backward of its gradients; views have none; saved and temporary
// arrays are not counted, so the bytes per second shown are a lower bound.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gradus/core/list.h"
#include "gradus/core/profile/watch.h"

namespace gradus {

namespace detail {
class Recorder;
}

/// One op in one module, or one range, over all the time watched.
struct ProfileEntry {
  // The op's or range's. Also: "accumulate", the engine's own work in backward; "(outside ops)";
  // "(not watched)", memory taken before or by other threads.
  std::string name;
  std::string module;  // path of the module that ran it, "" outside any
  bool is_op = false;
  std::int64_t calls = 0, backward_calls = 0;
  double forward_seconds = 0, backward_seconds = 0;
  double range_seconds = 0;  // of a range: its own time, without the ops and ranges inside
  double flops = 0, bytes = 0;
  // Memory of arrays it made: when memory_stats().live_bytes was largest (also its backward's alone), and
  // now.
  std::int64_t bytes_at_peak = 0, backward_bytes_at_peak = 0;
  std::int64_t live_bytes = 0, live_blocks = 0;

  /// Of all parts together.
  double seconds() const { return forward_seconds + backward_seconds + range_seconds; }
};

/// The rows of the table: ops, or modules with everything that runs in them.
enum class ProfileBy { op, module };

struct ProfileTableOptions {
  ProfileBy by = ProfileBy::op;  // one row per op or per module
  bool merge_layers = false;     // merges modules that differ only in numbers: "layers.*.linear1"
  int depth = 0;  // module paths are cut after so many names: 1 turns "layers.0.norm1" into "layers"
  int rows = 0;   // only this many of the largest, the others in one row; 0: all
};

struct ProfileOptions {
  std::int64_t trace_events = 1'000'000;  // kept for the trace (48 bytes each); tables count all
};

/// Profiles the thread that created it until destroyed. When nested, the inner one is active.
class Profile {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit Profile(
      const ProfileOptions& options = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Discards everything recorded, for example after warm-up steps.
  void clear();
  /// How long it has watched.
  double seconds() const;
  /// The entries, longest first.
  ListOf<ProfileEntry> entries() const;
  /// Calls, time forward and backward, share, FLOP/s and bytes/s as text, at most 110 columns wide:
  /// `std::cout << profile.table({.by = ProfileBy::module, .merge_layers = true});`
  std::string table(const ProfileTableOptions& options = {}) const;
  /// Which ops allocated the memory live at the peak, and the memory live now, as text.
  std::string memory_table(const ProfileTableOptions& options = {}) const;
  /// Writes Chrome's trace-event JSON: ranges and modules around their ops, and live bytes. Throws naming the
  /// file when it cannot be written.
  void write_chrome_trace(const std::string& path) const;

 private:
  std::unique_ptr<detail::Recorder> recorder_;
};

}  // namespace gradus
