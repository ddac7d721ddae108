#pragma once
// The log of losses in a TrainingRun's folder.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "gradus/kit/data/run_log.h"

namespace gradus::kit {

/// losses.jsonl; a full disk does not end the training.
class TrainingLog {
 public:
  static std::filesystem::path file_of(const std::filesystem::path& folder) {
    return folder / "losses.jsonl";
  }

  /// Continues after the lines of steps up to `done` and drops those of later steps, which are repeated. The
  /// old file is kept until the new one is complete. Throws if it cannot be written.
  TrainingLog(const std::filesystem::path& folder, std::int64_t done);

  /// Returns "", or why the line was not written: then it is kept and written before the next one.
  std::string write(const LogLine& line);
  /// Writes the lines that were kept.
  std::string flush();
  std::size_t waiting() const { return waiting_.size(); }

 private:
  RunLog log_;
  std::deque<LogLine> waiting_;
};

}  // namespace gradus::kit
