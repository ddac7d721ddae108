#include "kit/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gradus/core/format.h"
#include "kit/files.h"

namespace gradus::kit {
namespace {

constexpr auto replace_bad_utf8 = Json::error_handler_t::replace;

void nulls_for_non_finite(Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
  if (value.is_structured()) {
    for (Json& part : value) nulls_for_non_finite(part);
  }
}

bool is_object(const std::string& line) {
  const Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return value.is_object();
}

// Bytes up to the end of the last whole line: one that ends in a newline, or parses although it does not.
std::size_t whole_lines(const std::string& bytes) {
  const std::size_t newline = bytes.rfind('\n');
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return start == bytes.size() || is_object(bytes.substr(start)) ? bytes.size() : start;
}

Descriptor open_for_append(const std::filesystem::path& path) {
  std::string bytes;
  if (std::filesystem::exists(path)) bytes = read_file(path);
  Descriptor file("MetricsWriter", path, O_WRONLY | O_CREAT | O_APPEND);
  const std::size_t whole = whole_lines(bytes);
  if (whole < bytes.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    fail_with("MetricsWriter: cannot remove the cut-off last line of {}", path.string());
  }
  if (whole > 0 && bytes[whole - 1] != '\n') file.write_all("\n");
  return file;
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& path) : file_(open_for_append(path)) {}

void MetricsWriter::write(Json line) {
  if (!line.is_object()) fail_with("MetricsWriter: expects a JSON object, got {}", line.dump());
  const bool had_loss = line.contains("loss") && line["loss"].is_number();
  nulls_for_non_finite(line);
  if (had_loss && line["loss"].is_null() && line.contains("step")) line["diverged_at"] = line["step"];
  file_.write_all(line.dump(-1, ' ', false, replace_bad_utf8) + "\n");  // at once: lines stay whole
}

std::vector<Json> read_metrics(const std::filesystem::path& path) {
  std::vector<Json> lines;
  if (!std::filesystem::exists(path)) return lines;
  const std::string bytes = read_file(path);
  const std::size_t end = whole_lines(bytes);
  int number = 1;
  for (std::size_t start = 0; start < end; ++number) {
    const std::size_t stop = std::min(bytes.find('\n', start), end);
    const std::string text = bytes.substr(start, stop - start);
    start = stop + 1;
    if (text.empty()) continue;
    Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      fail_with("read_metrics: {} line {}: expects a JSON object, got: {:.60}", path.string(), number, text);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void write_json(const std::filesystem::path& path, const Json& value) {
  replace_file(path, value.dump(2, ' ', false, replace_bad_utf8) + "\n");
}

Json read_json(const std::filesystem::path& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const Json::exception& error) {
    fail_with("read_json: {}: {}", path.string(), error.what());
  }
}

}  // namespace gradus::kit
