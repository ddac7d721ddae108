#include "gradus/kit/data/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/detail/json_files.h"
#include "gradus/kit/data/detail/utf8.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"
#include "gradus/kit/program/detail/descriptor.h"

namespace gradus::kit {
namespace {

/// Nothing for what is no JSON object.
std::optional<Json> parse_object(std::string_view text) {
  try {
    Json value = parse_json(text);
    if (value.is_object()) return value;
  } catch (const Json::exception&) {
  } catch (const Error&) {  // too deep
  }
  return std::nullopt;
}

/// Whether a kill may have cut this line short: an object without lists or objects inside that ends too soon.
/// Anything else is no line of a log, and whoever wrote it wants to keep it.
bool cut_off(std::string_view line) {
  if (line != "{" && !line.starts_with("{\"")) return false;
  bool flat = true;
  try {
    [[maybe_unused]] const Json whole = Json::parse(line, [&](int depth, Json::parse_event_t event, Json&) {
      const bool begins =
          event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
      flat = flat && !(begins && depth > 0);
      return true;
    });
  } catch (const Json::parse_error& error) {
    return flat && error.byte > line.size();
  }
  return false;
}

/// Bytes before a last line that is cut off; all where there is none.
std::size_t whole_lines(std::string_view bytes) {
  const std::size_t newline = bytes.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return cut_off(bytes.substr(start)) ? start : bytes.size();
}

LogValue value_of(const std::string& name, const Json& json) {
  if (json.is_null()) return nullptr;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) return json.get<double>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  check(json.is_number(), "{} is a list or an object; expects a number, a text, true, false or null",
        io::quote(name));
  return json.get<double>();
}

LogLine line_of(std::string_view text) {
  const std::optional<Json> object = parse_object(text);
  check(object.has_value(), "expects a JSON object, got {}", io::quote(std::string(text.substr(0, 100))));
  LogLine line;
  for (const auto& [name, value] : object->items()) line.add(name, value_of(name, value));
  return line;
}

/// The lines of a log; what is wrong with one is told after `label`, which names who reads what.
LogLines lines_of(std::string_view whole, const std::string& label) {
  LogLines lines;
  int number = 1;
  for (std::size_t start = 0; start < whole.size(); ++number) {
    const std::size_t stop = std::min(whole.find('\n', start), whole.size());
    const std::string_view text = whole.substr(start, stop - start);
    start = stop + 1;
    if (text.empty()) continue;
    try {
      lines.add(line_of(text));
    } catch (const Error& error) {
      fail_with("{} line {}: {}", label, number, error.what());
    }
  }
  return lines;
}

std::string names_of(const LogLine& line) {
  std::string names;
  for (const auto& [name, value] : line) names += (names.empty() ? "" : ", ") + io::quote(name);
  return names.empty() ? "none" : names;
}

std::string text_json(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Descriptor open_log(const std::filesystem::path& path, const RunLogOptions& options) {
  if (path.has_parent_path()) make_folder(path.parent_path());
  try_output("RunLog", path);  // no device or pipe
  if (!options.append) return Descriptor("RunLog", path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC);
  const std::string bytes = std::filesystem::exists(path) ? read_file(path, "RunLog") : "";
  const std::size_t whole = whole_lines(bytes);
  // Of a wrong path nothing may be cut off, and nothing added to it.
  lines_of(std::string_view(bytes).substr(0, whole),
           fmt::format("RunLog: {} is no run log:", io::printable(path.string())));
  Descriptor file("RunLog", path, O_WRONLY | O_CREAT | O_APPEND);
  if (whole < bytes.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    fail_with("RunLog: cannot remove the cut-off last line of {}: {}", io::printable(path.string()),
              std::strerror(errno));
  }
  if (whole > 0 && bytes[whole - 1] != '\n') file.write_all("\n");
  return file;
}

}  // namespace

std::int64_t LogValue::whole(std::uint64_t value) {
  check(value <= INT64_MAX,
        "RunLog: {} is above 2^63 - 1, the largest whole number a line holds; write it as a text", value);
  return static_cast<std::int64_t>(value);
}

double LogValue::number() const {
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*integer);
  if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? 1 : 0;
  check(is_null(), "LogValue: expects a number, got {}", io::quote(json()));
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t LogValue::integer() const {
  constexpr double kAllWhole = 9007199254740992;  // 2^53: up to here every whole number is a double
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  const auto* real = std::get_if<double>(&value_);
  check(real != nullptr && std::trunc(*real) == *real && std::abs(*real) <= kAllWhole,
        "LogValue: expects a whole number, got {}", io::quote(json()));
  return static_cast<std::int64_t>(*real);
}

const std::string& LogValue::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  check(text != nullptr, "LogValue: expects a text, got {}", io::quote(json()));
  return *text;
}

std::string LogValue::json() const {
  if (is_null()) return "null";
  if (const auto* text = std::get_if<std::string>(&value_)) return text_json(*text);
  if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return std::to_string(*integer);
  return Json(std::get<double>(value_)).dump();
}

LogLine::LogLine(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) add(name, value);
}

void LogLine::add(std::string name, LogValue value) {
  check(is_utf8(name), "LogLine: the name {} is not UTF-8, which JSON demands", io::quote(name));
  check(!contains(name), "LogLine: {} stands twice in one line", io::quote(name));
  entries_.emplace_back(std::move(name), std::move(value));
}

const LogValue* LogLine::find(std::string_view name) const {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == name; });
  return at == entries_.end() ? nullptr : &at->second;
}

const LogValue& LogLine::operator[](std::string_view name) const {
  const LogValue* value = find(name);
  if (value == nullptr)
    fail_with("LogLine: the line has no {}; it has {}", io::quote(std::string(name)), names_of(*this));
  return *value;
}

std::string LogLine::json() const {
  std::string text = "{";
  for (const auto& [name, value] : entries_)
    text += (text.size() == 1 ? "" : ",") + text_json(name) + ":" + value.json();
  return text + "}";
}

struct RunLog::File {
  Descriptor descriptor;
};

RunLog::RunLog(const std::filesystem::path& path, const RunLogOptions& options)
    : file_(new File{open_log(path, options)}) {}
RunLog::RunLog(RunLog&&) noexcept = default;
RunLog& RunLog::operator=(RunLog&&) noexcept = default;
RunLog::~RunLog() = default;

void RunLog::write(const LogLine& line) {
  const Descriptor& file = file_->descriptor;
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  try {
    file.write_all(line.json() + "\n");
  } catch (...) {  // no half line for the next to go on from
    [[maybe_unused]] const int removed = ::ftruncate(file.get(), end);
    throw;
  }
}

void LogLines::check_name(const char* op, std::string_view name) const {
  const auto has = [&](const LogLine& line) { return line.contains(name); };
  if (lines_.empty() || std::any_of(lines_.begin(), lines_.end(), has)) return;
  LogLine names;
  for (const LogLine& line : lines_)
    for (const auto& [other, value] : line)
      if (!names.contains(other)) names.add(other, value);
  fail_with("LogLines::{}: no line has {}; there are {}", op, io::quote(std::string(name)), names_of(names));
}

std::vector<double> LogLines::column(std::string_view name) const {
  check_name("column", name);
  std::vector<double> values;
  for (const LogLine& line : lines_) {
    const LogValue* value = line.find(name);
    if (value != nullptr && value->is_text())
      fail_with("LogLines::column: {} is a text in line {}, {}; expects numbers",
                io::quote(std::string(name)), values.size() + 1, io::quote(value->text()));
    values.push_back(value == nullptr ? std::numeric_limits<double>::quiet_NaN() : value->number());
  }
  return values;
}

LogLines LogLines::with(std::string_view name) const {
  check_name("with", name);
  LogLines some;
  for (const LogLine& line : lines_) {
    const LogValue* value = line.find(name);
    if (value != nullptr && !value->is_null()) some.add(line);
  }
  return some;
}

LogLines read_run_log(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  const std::string bytes = read_file(path, "read_run_log");
  return lines_of(std::string_view(bytes).substr(0, whole_lines(bytes)),
                  fmt::format("read_run_log: {}", io::printable(path.string())));
}

}  // namespace gradus::kit
