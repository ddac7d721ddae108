#include "char_gpt/profiling.h"

#include <fmt/format.h>

namespace gradus::char_gpt {

namespace {
constexpr std::int64_t kWarmUp = 5;  // steps before: fresh memory, threads that wake up
constexpr std::int64_t kWatched = 10;
}  // namespace

void StepProfiler::before_step(std::int64_t step) {
  if (on_ && step == kWarmUp + 1) profile_.emplace();
}

void StepProfiler::after_step(std::int64_t step) {
  if (!profile_) return;
  ++steps_;
  if (step == kWarmUp + kWatched) finish();
}

void StepProfiler::finish() {
  if (!on_) return;
  on_ = false;
  if (!profile_) {
    fmt::print("profile: nothing was watched: it begins after {} steps\n", kWarmUp);
    return;
  }
  fmt::print("profile of {} steps\n\n", steps_);
  // [tables]
  fmt::print("{}\n", profile_->table());
  fmt::print("{}\n", profile_->table({.by = ProfileBy::module, .merge_layers = true, .rows = 10}));
  fmt::print("{}\n", profile_->memory_table());
  // [/tables]
  if (!trace_.empty()) {
    profile_->write_chrome_trace(trace_.string());
    fmt::print("trace, for ui.perfetto.dev or chrome://tracing: {}\n", trace_.string());
  }
  profile_.reset();
}

}  // namespace gradus::char_gpt
