#include "gradus/kit/data/detail/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"

namespace gradus::kit {
namespace {

constexpr auto replace_bad_utf8 = Json::error_handler_t::replace;

void nulls_for_non_finite(Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
  if (value.is_structured()) {
    for (Json& part : value) nulls_for_non_finite(part);
  }
}

/// Programs here write no deeper JSON, and one written to do harm would need a stack as deep to print.
constexpr int kDeepest = 64;

/// Throws Json::exception where the text is no JSON, Error where it is too deep.
Json parse(const std::string& text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    check(depth <= kDeepest, "expects at most {} lists and objects inside each other", kDeepest);
    return true;
  });
}

/// Null for all but an object.
Json parse_object(const std::string& text) {
  try {
    Json value = parse(text);
    return value.is_object() ? value : Json();
  } catch (const Json::exception&) {
    return {};
  } catch (const Error&) {
    return {};
  }
}

bool is_object(const std::string& line) { return parse_object(line).is_object(); }

// Bytes up to the end of the last whole line: one that ends in a newline, or parses although it does not.
std::size_t whole_lines(const std::string& bytes) {
  const std::size_t newline = bytes.rfind('\n');
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return start == bytes.size() || is_object(bytes.substr(start)) ? bytes.size() : start;
}

Descriptor open_for_append(const std::filesystem::path& path) {
  try_output("MetricsWriter", path);  // no device or pipe
  std::string bytes;
  if (std::filesystem::exists(path)) bytes = read_file(path);
  Descriptor file("MetricsWriter", path, O_WRONLY | O_CREAT | O_APPEND);
  const std::size_t whole = whole_lines(bytes);
  if (whole < bytes.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    fail_with("MetricsWriter: cannot remove the cut-off last line of {}: {}", io::printable(path.string()),
              std::strerror(errno));
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
    Json line = parse_object(text);
    if (!line.is_object()) {
      fail_with("read_metrics: {} line {}: expects a JSON object, got: {:.60}", io::printable(path.string()),
                number, io::printable(text.substr(0, 60)));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void write_json(const std::filesystem::path& path, const Json& value) {
  replace_file(path, value.dump(2, ' ', false, replace_bad_utf8) + "\n");
}

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  std::string reason;
  try {
    return parse(text);
  } catch (const Json::exception& error) {
    reason = error.what();
  } catch (const Error& error) {
    reason = error.what();
  }
  fail_with("read_json: {}: {}", io::printable(path.string()), io::printable(reason));
}

}  // namespace gradus::kit
