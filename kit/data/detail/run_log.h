#pragma once
// What a run leaves behind: config.json, metrics.jsonl (one line a step) and summary.json in one folder.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "gradus/kit/program/detail/descriptor.h"

namespace gradus::kit {

/// JSON that keeps its keys in the order they were written. Include <nlohmann/json.hpp> to use it.
using Json = nlohmann::ordered_json;

/// Writes JSON lines, each handed to the system at once: a killed run loses at most the line being written.
///
///   MetricsWriter metrics(folder / "metrics.jsonl");
///   metrics.write({{"step", step}, {"loss", loss}});
class MetricsWriter {
 public:
  /// Appends to `path`. A last line cut off by a killed run is removed first.
  explicit MetricsWriter(const std::filesystem::path& path);

  /// Writes one object as a line. Numbers that are not finite become null; when "loss" is one of them, the
  /// line also gets "diverged_at" with the value of its "step". Throws when `line` is not an object.
  void write(Json line);

 private:
  Descriptor file_;
};

/// The lines of a metrics file. A last line cut off by a killed run is left out; any other line that is not a
/// JSON object is an error naming file and line. A missing file has no lines.
std::vector<Json> read_metrics(const std::filesystem::path& path);

/// Replaces a JSON file whole, indented by two spaces; numbers that are not finite become null.
void write_json(const std::filesystem::path& path, const Json& value);

/// The number; NaN for the null it was written as when it was not finite.
double number(const Json& value);

/// Reads a JSON file; throws naming file and place.
Json read_json(const std::filesystem::path& path);

}  // namespace gradus::kit
