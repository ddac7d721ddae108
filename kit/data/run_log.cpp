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

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/utf8.h"
#include "gradus/kit/program/detail/descriptor.h"

namespace gradus::kit {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFew = 16;  // up to this many names linear search is faster

/// Receives a line from the parser. Throws for JSON that a log line cannot contain.
class LineReader final : public nlohmann::json_sax<Json> {
 public:
  LogLine line;
  std::size_t error_at = 0;  // the byte, from 1, at which the JSON is invalid or incomplete
  std::string out_of_range;  // a number out of range

  bool null() override { return take(nullptr); }
  bool boolean(bool value) override { return take_other(value); }
  bool number_integer(std::int64_t value) override { return take(value); }
  bool number_unsigned(std::uint64_t value) override {
    return value > INT64_MAX ? take(static_cast<double>(value)) : take(value);
  }
  bool number_float(double value, const std::string&) override { return take(value); }
  bool string(std::string& text) override { return take_other(text); }
  bool binary(Json::binary_t&) override { return false; }  // never run: text has no such values
  bool key(std::string& name) override {
    name_ = name;
    return true;
  }
  bool start_object(std::size_t) override {
    if (inside_) refuse("an object");
    return inside_ = true;
  }
  bool start_array(std::size_t) override {
    if (list_) refuse("a list of lists");
    if (inside_) list_.emplace();
    return inside_;
  }
  bool end_object() override { return true; }
  bool end_array() override {
    line.add(name_, *std::exchange(list_, std::nullopt));
    return true;
  }
  bool parse_error(std::size_t at, const std::string& token, const Json::exception& error) override {
    error_at = at;
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr) out_of_range = token;
    return false;
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    fail_input_with("{} is {}; expects a number, a text, true, false, null or a list of numbers",
                    io::quote(name_), what);
  }
  bool take(LogValue value) {
    if (list_)
      list_->push_back(value.number());
    else if (inside_)
      line.add(name_, std::move(value));
    return inside_;
  }
  bool take_other(LogValue value) {
    if (list_) refuse("a list with more than numbers");
    return take(std::move(value));
  }

  bool inside_ = false;                           // inside the line's object
  std::optional<std::vector<double>> list_ = {};  // the list being read
  std::string name_;
};

/// Whether a kill may have cut this line short: an incomplete object without objects inside. Anything else is
/// not a log line and must be kept.
bool cut_off(std::string_view line) {
  if (line != "{" && !line.starts_with("{\"")) return false;
  LineReader reader;
  try {
    return !Json::sax_parse(line, &reader) && reader.out_of_range.empty() && reader.error_at > line.size();
  } catch (const Error&) {
    return false;
  }
}

/// The number of bytes before a last line that is cut off; all if there is none. Zeros at the end are bytes
/// that a power loss kept from the disk; a file of nothing else is not a log.
std::size_t whole_lines(std::string_view bytes) {
  if (const std::size_t last = bytes.find_last_not_of('\0'); last != std::string_view::npos)
    bytes = bytes.substr(0, last + 1);
  const std::size_t newline = bytes.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return cut_off(bytes.substr(start)) ? start : bytes.size();
}

LogLine line_of(std::string_view text) {
  LineReader reader;
  const bool zero = text.find('\0') != std::string_view::npos;  // the parser would stop there
  if (!zero && Json::sax_parse(text, &reader)) return std::move(reader.line);
  check_input(reader.out_of_range.empty(), "the number {} is out of range", io::quote(reader.out_of_range));
  fail_input_with("expects a JSON object, got {}", io::quote(std::string(text.substr(0, 100))));
}

std::string names_of(const LogLine& line) {
  constexpr std::ptrdiff_t kShown = 30;
  const std::ptrdiff_t count = line.end() - line.begin(), shown = std::min(count, kShown);
  std::string names;
  for (auto entry = line.begin(); entry != line.begin() + shown; ++entry)
    names += (names.empty() ? "" : ", ") + io::quote(entry->first);
  if (shown < count) names += fmt::format(" and {} more", count - shown);
  return names.empty() ? "none" : names;
}

std::string text_json(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Number by number: a list of nlohmann's needs memory when it goes, and ends the program if there is none.
std::string list_json(const std::vector<double>& numbers) {
  std::string text = "[";
  for (const double number : numbers)
    text += (text.size() == 1 ? "" : ",") + Json(number).dump();  // NaN: null
  return text + "]";
}

}  // namespace

/// Reads the lines of a log.
class LogReader {
 public:
  /// Errors in a line begin with `label`, which names the caller and the file.
  static LogLines read(std::string_view whole, const std::string& label, const std::string& file) {
    LogLines lines;
    lines.file_ = file;
    std::int64_t number = 1;
    for (std::size_t start = 0; start < whole.size(); ++number) {
      const std::size_t stop = std::min(whole.find('\n', start), whole.size());
      const std::string_view text = whole.substr(start, stop - start);
      start = stop + 1;
      if (text.empty()) continue;
      try {
        lines.add(line_of(text));
      } catch (const Error& error) {
        fail_input_with("{} line {}: {}", label, number, error.what());
      }
      lines.lines_.back().number_ = number;
    }
    return lines;
  }
};

static Descriptor open_log(const std::filesystem::path& path, const RunLogOptions& options) {
  if (path.has_parent_path()) make_folder(path.parent_path());
  try_output("RunLog", path);  // no device or pipe
  if (!options.append) return Descriptor("RunLog", path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC);
  const std::string bytes = io::exists("RunLog", path.string()) ? read_file(path, "RunLog") : "";
  const std::size_t whole = whole_lines(bytes);
  const std::string shown = io::printable(path.string());
  // Checked first: a wrong path must not be truncated or appended to.
  LogReader::read(std::string_view(bytes).substr(0, whole),
                  fmt::format("RunLog: {} is not a run log:", shown), shown);
  Descriptor file("RunLog", path, O_WRONLY | O_CREAT | O_APPEND);
  if (whole < bytes.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    fail_input_with("RunLog: cannot remove the cut-off last line of {}: {}", shown, std::strerror(errno));
  }
  if (whole > 0 && bytes[whole - 1] != '\n') file.write_all("\n");
  return file;
}

std::int64_t LogValue::whole(std::uint64_t value) {
  check(value <= INT64_MAX,
        "RunLog: {} is above 2^63 - 1, the largest whole number in a log; write it as a text", value);
  return static_cast<std::int64_t>(value);
}

double LogValue::number() const {
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*integer);
  if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? 1 : 0;
  if (!is_null()) fail_with("LogValue: expects a number, got {}", io::quote(json()));
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t LogValue::integer() const {
  constexpr double kAllWhole = 9007199254740992;  // 2^53: every whole number up to here is exact in double
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  const auto* real = std::get_if<double>(&value_);
  if (real == nullptr || std::trunc(*real) != *real || std::abs(*real) > kAllWhole)
    fail_with("LogValue: expects a whole number, got {}", io::quote(json()));
  return static_cast<std::int64_t>(*real);
}

const std::string& LogValue::text() const& {
  const auto* text = std::get_if<std::string>(&value_);
  if (text == nullptr) fail_with("LogValue: expects a text, got {}", io::quote(json()));
  return *text;
}

const std::vector<double>& LogValue::list() const& {
  const auto* list = std::get_if<std::vector<double>>(&value_);
  if (list == nullptr) fail_with("LogValue: expects a list of numbers, got {}", io::quote(json()));
  return *list;
}

std::string LogValue::json() const {
  if (is_null()) return "null";
  if (const auto* list = std::get_if<std::vector<double>>(&value_)) return list_json(*list);
  if (const auto* text = std::get_if<std::string>(&value_)) return text_json(*text);
  if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return std::to_string(*integer);
  return Json(std::get<double>(value_)).dump();
}

LogLine::LogLine(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) add(name, value);
}

void LogLine::add(std::string name, LogValue value) {
  check(is_utf8(name), "LogLine: the name {} is not UTF-8, which JSON requires", io::quote(name));
  check(!contains(name), "LogLine: {} appears twice in one line", io::quote(name));
  entries_.emplace_back(std::move(name), std::move(value));
  if (entries_.size() <= kFew) return;
  for (std::size_t i = places_.size(); i < entries_.size(); ++i) places_.emplace(entries_[i].first, i);
}

const LogValue* LogLine::find(std::string_view name) const {
  if (!places_.empty()) {
    const auto place = places_.find(name);
    return place == places_.end() ? nullptr : &entries_[place->second].second;
  }
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == name; });
  return at == entries_.end() ? nullptr : &at->second;
}

const LogValue& LogLine::operator[](std::string_view name) const& {
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
  off_t half_line = -1;  // the beginning of a half line that could not be removed; -1: none

  void remove_half_line() {
    if (half_line >= 0 && ::ftruncate(descriptor.get(), half_line) == 0) half_line = -1;
  }
};

RunLog::RunLog(const std::filesystem::path& path, const RunLogOptions& options)
    : file_(new File{.descriptor = open_log(path, options)}) {}
RunLog::RunLog(RunLog&&) noexcept = default;
RunLog& RunLog::operator=(RunLog&&) noexcept = default;
RunLog::~RunLog() = default;

void RunLog::write(const LogLine& line) {
  const Descriptor& file = file_->descriptor;
  file_->remove_half_line();  // tries again: the new line must not continue it
  if (file_->half_line >= 0) file.fail("cannot remove a half line from");
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  if (end < 0) file.fail("cannot find the end of");
  try {
    file.write_all(line.json() + "\n");
  } catch (...) {
    file_->half_line = end;
    file_->remove_half_line();
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

std::string LogLines::place(const LogLine& line) const {
  if (line.number() > 0 && !file_.empty()) return fmt::format("line {} of {}", line.number(), file_);
  return fmt::format("line {}", &line - lines_.data() + 1);
}

std::vector<double> LogLines::column(std::string_view name) const {
  check_name("column", name);
  std::vector<double> values;
  for (const LogLine& line : lines_) {
    const LogValue* value = line.find(name);
    if (value != nullptr && (value->is_text() || value->is_list()))
      fail_with("LogLines::column: {} is a {} in {}, {}; expects numbers", io::quote(std::string(name)),
                value->is_text() ? "text" : "list", place(line),
                io::quote(value->is_text() ? value->text() : value->json()));
    values.push_back(value == nullptr ? std::numeric_limits<double>::quiet_NaN() : value->number());
  }
  return values;
}

LogLines LogLines::with(std::string_view name) const {
  check_name("with", name);
  LogLines some;
  some.file_ = file_;
  for (const LogLine& line : lines_) {
    const LogValue* value = line.find(name);
    if (value != nullptr && !value->is_null()) some.add(line);
  }
  return some;
}

LogLines read_run_log(const std::filesystem::path& path) {
  if (!io::exists("read_run_log", path.string())) return {};
  const std::string bytes = read_file(path, "read_run_log"), shown = io::printable(path.string());
  return LogReader::read(std::string_view(bytes).substr(0, whole_lines(bytes)), "read_run_log: " + shown,
                         shown);
}

}  // namespace gradus::kit
