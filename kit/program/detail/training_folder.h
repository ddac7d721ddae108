#pragma once
// The file of losses in a TrainingRun's folder.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "gradus/kit/data/run_log.h"

namespace gradus::kit {

/// losses.jsonl, where a full disk ends no training.
class TrainingLog {
 public:
  static std::filesystem::path file_of(const std::filesystem::path& folder) {
    return folder / "losses.jsonl";
  }

  /// Goes on behind the lines of steps up to `done`; those of later steps come once more. The old file stays
  /// whole until the new one is. Throws where it cannot be written.
  TrainingLog(const std::filesystem::path& folder, std::int64_t done);

  /// Nothing, or why the line is not in the file: it waits, and is written before the next one.
  std::string write(const LogLine& line);
  /// The same for lines that wait.
  std::string flush();
  std::size_t waiting() const { return waiting_.size(); }

 private:
  RunLog log_;
  std::deque<LogLine> waiting_;
};

}  // namespace gradus::kit
