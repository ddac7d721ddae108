#pragma once
// Where the time and the memory of a training go: --profile and --trace.

#include <filesystem>
#include <optional>

#include "gradus/core/profile/profile.h"

namespace gradus::char_gpt {

/// Watches a few steps once a training runs warm, then prints tables and writes the trace.
class StepProfiler {
 public:
  /// `trace`: the file to write; empty: none.
  StepProfiler(bool on, std::filesystem::path trace) : on_(on || !trace.empty()), trace_(std::move(trace)) {}

  void before_step(std::int64_t step);
  void after_step(std::int64_t step);
  /// Reports what was seen when the training ends before all steps were.
  void finish();

 private:
  bool on_;
  std::filesystem::path trace_;
  std::optional<Profile> profile_;
  std::int64_t steps_ = 0;  // watched
};

}  // namespace gradus::char_gpt
