#pragma once
// Time and memory of a training: --profile and --trace.

#include <filesystem>
#include <optional>

#include "gradus/core/profile/profile.h"

namespace gradus::char_gpt {

/// Profiles a few steps after warm-up, then prints tables and writes the trace.
class StepProfiler {
 public:
  /// `trace`: the file to write; empty: none.
  StepProfiler(bool on, std::filesystem::path trace) : on_(on || !trace.empty()), trace_(std::move(trace)) {}

  void before_step(std::int64_t step);
  void after_step(std::int64_t step);
  /// Reports the steps so far when training ends early.
  void finish();

 private:
  bool on_;
  std::filesystem::path trace_;
  std::optional<Profile> profile_;
  std::int64_t steps_ = 0;  // profiled
};

}  // namespace gradus::char_gpt
