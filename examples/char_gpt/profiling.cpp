#include "char_gpt/profiling.h"

#include <fmt/format.h>

#include "gradus/kit/program/program.h"

namespace gradus::char_gpt {

namespace {
constexpr std::int64_t kWarmUp = 5;  // skipped steps: fresh memory, threads starting
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
    kit::print(fmt::format("profile: nothing was watched: it begins after {} steps\n", kWarmUp));
    return;
  }
  kit::print(fmt::format("profile of {} steps\n\n", steps_));
  // [tables]
  kit::print(profile_->table() + "\n");
  kit::print(profile_->table({.by = ProfileBy::module, .merge_layers = true, .rows = 10}) + "\n");
  kit::print(profile_->memory_table() + "\n");
  // [/tables]
  if (!trace_.empty()) {
    profile_->write_chrome_trace(trace_.string());
    kit::print_text(fmt::format("trace, for ui.perfetto.dev or chrome://tracing: {}\n", trace_.string()));
  }
  profile_.reset();
}

}  // namespace gradus::char_gpt
