#pragma once
// Profile: where the time and the memory of a program go, op by op.
//
//   Profile profile;                              // watches this thread until the end of the scope
//   for (int step = 0; step < 10; ++step) train_step();
//   std::cout << profile.table() << profile.memory_table();
//   profile.write_chrome_trace("trace.json");     // for ui.perfetto.dev or chrome://tracing
//
// Parts of a program get rows of their own with a ProfileRange (core/profile/watch.h).
//
// What is counted. Time is cut into laps without gaps, so all rows together are 100%: when an op ends, it is
// charged the time since the one before it ended, with what the framework and the caller did in between. A
// lap also ends, and goes to the range around it or to "(outside ops)", where a module that no other module
// called begins, where a range begins, and around each op's backward. An op made of other ops is charged what
// they leave. FLOPs are those of matrix products, 2 M N K, and of attention, for the pairs that may be seen.
// Bytes are those of an op's inputs and output, in backward of its gradients; views have none; what an op
// saved or needs in between is not counted, so bytes per second are at least what is shown.

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
  // The op's or range's. Besides: "accumulate", the engine's own work in backward; "(outside ops)";
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

/// What a row of the table is: an op, or a module with all that runs in it.
enum class ProfileBy { op, module };

struct ProfileTableOptions {
  ProfileBy by = ProfileBy::op;  // what its rows are
  bool merge_layers = false;     // modules that differ in numbers only count as one: "layers.*.linear1"
  int depth = 0;  // module paths are cut after so many names: 1 makes "layers.0.norm1" "layers"
  int rows = 0;   // the largest only, the others in one row; 0: all
};

struct ProfileOptions {
  std::int64_t trace_events = 1'000'000;  // kept for the trace (48 bytes each); tables count all
};

/// Watches what the thread that made it computes, until it goes. Of two, the inner one watches.
class Profile {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit Profile(
      const ProfileOptions& options = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Forgets what was seen: after the steps that warm up.
  void clear();
  /// How long it has watched.
  double seconds() const;
  /// What was seen, the longest first.
  ListOf<ProfileEntry> entries() const;
  /// Calls, time forward and backward, share, FLOP/s and bytes/s as text, at most 110 columns wide:
  /// `std::cout << profile.table({.by = ProfileBy::module, .merge_layers = true});`
  std::string table(const ProfileTableOptions& options = {}) const;
  /// Who made the memory that was alive at the peak, and who made what is alive now, as text.
  std::string memory_table(const ProfileTableOptions& options = {}) const;
  /// Writes Chrome's trace-event JSON: ranges and modules around their ops, and live bytes. Throws naming the
  /// file when it cannot be written.
  void write_chrome_trace(const std::string& path) const;

 private:
  std::unique_ptr<detail::Recorder> recorder_;
};

}  // namespace gradus
