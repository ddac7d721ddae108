#pragma once
// The log of a run: a file of JSON lines, one for each step, that any tool can read.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus {
class Tensor;
}

namespace gradus::kit {

/// A value in a run log: a number, a bool, a text, a list of numbers, or null. Converts from these types and
/// their std::optional: `LogValue loss = 2.5; loss.number();`
class LogValue {
 public:
  LogValue() = default;
  LogValue(std::nullptr_t) {}
  template <std::same_as<bool> T>
  LogValue(T value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) LogValue(T value) : value_(whole(value)) {}
  template <std::floating_point T>
  LogValue(T value) {  // null if not finite, because JSON has no NaN
    if (const auto number = static_cast<double>(value); std::isfinite(number)) value_ = number;
  }
  template <std::convertible_to<std::string_view> T>
  LogValue(const T& text) : value_(std::string(std::string_view(text))) {}
  LogValue(std::vector<double> numbers) : value_(std::move(numbers)) {}
  template <class T>
  LogValue(const std::optional<T>& value) : LogValue(value ? LogValue(*value) : LogValue()) {}
  template <std::same_as<Tensor> T>
  LogValue(const T&) {
    static_assert(sizeof(T) == 0, "write the tensor's number: {\"loss\", loss.item()}");
  }

  /// True for null, which replaces NaN and infinite numbers.
  bool is_null() const { return value_.index() == 0; }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<std::vector<double>>(value_); }
  /// The number, NaN for null, 0 or 1 for a bool; throws for a text or a list.
  double number() const;
  /// The whole number, also for 2.0; throws for anything else: 2.5, "2", null, and a double above 2^53.
  std::int64_t integer() const;
  /// The text; throws for anything else.
  const std::string& text() const&;
  std::string text() const&& { return text(); }
  /// The numbers of a list, NaN for null; throws for anything else.
  const std::vector<double>& list() const&;
  std::vector<double> list() const&& { return list(); }
  /// As JSON: `2.5`, `true`, `"warm-up over"`, `[2.5,1.0]`, `null`.
  std::string json() const;

  bool operator==(const LogValue&) const = default;

 private:
  static std::int64_t whole(std::signed_integral auto value) { return value; }
  static std::int64_t whole(std::uint64_t value);  // throws above 2^63 - 1

  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>> value_;
};

/// Names and values, in order: `LogLine line = {{"step", 7}, {"loss", 2.5}};`
class LogLine {
 public:
  using Entry = std::pair<std::string, LogValue>;  // a name and its value

  LogLine() = default;
  LogLine(std::initializer_list<Entry> entries);

  /// Adds a value; throws when the name exists or is not UTF-8.
  void add(std::string name, LogValue value);
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// The value of that name; throws when there is none, listing all names.
  const LogValue& operator[](std::string_view name) const&;
  LogValue operator[](std::string_view name) const&& { return (*this)[name]; }
  /// The line as in the file, without its newline: `{"step":7,"loss":2.5}`.
  std::string json() const;

  /// The line's number in the file it was read from, from 1; 0 for a line that was not read.
  std::int64_t number() const { return number_; }

  auto begin() const& { return entries_.begin(); }
  auto end() const& { return entries_.end(); }
  void begin() const&& = delete;  // the entries go with the temporary: name the line first
  void end() const&& = delete;    // the entries go with the temporary: name the line first
  /// The same names and values, in the same order.
  bool operator==(const LogLine& other) const { return entries_ == other.entries_; }

 private:
  friend class LogLines;
  friend class LogReader;
  const LogValue* find(std::string_view name) const;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> places_;  // of all names, if there are many
  std::int64_t number_ = 0;
};

struct RunLogOptions {
  bool append = true;  // false: overwrites the file
};

/// Writes JSON lines, each immediately: a killed run loses at most the line being written.
///
///   kit::RunLog log("runs/a/metrics.jsonl");
///   log.write({{"step", step}, {"loss", loss}, {"note", "warm-up over"}});
class RunLog {
 public:
  /// Appends to `path`, and makes its folder if needed; `kit::RunLog log(path, {.append = false});`
  /// overwrites it. Removes a last line cut off by a kill. Throws, naming the file, if it cannot be written
  /// or is not a run log; then it is not changed.
  explicit RunLog(const std::filesystem::path& path, const RunLogOptions& options = {});
  RunLog(RunLog&&) noexcept;
  RunLog& operator=(RunLog&&) noexcept;
  ~RunLog();

  /// Writes one line. Numbers that are not finite become null. Throws, naming the file, when the disk is
  /// full; the next write removes the incomplete line first, and throws if it cannot. Only one thread at a
  /// time.
  void write(const LogLine& line);

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// The lines of a run log, in order.
class LogLines {
 public:
  void add(LogLine line) { lines_.push_back(std::move(line)); }  // at the end
  std::size_t size() const { return lines_.size(); }
  bool empty() const { return lines_.empty(); }
  const LogLine& operator[](std::size_t i) const& { return lines_[i]; }
  LogLine operator[](std::size_t i) const&& { return lines_[i]; }
  auto begin() const& { return lines_.begin(); }
  auto end() const& { return lines_.end(); }
  void begin() const&& = delete;  // the lines go with the temporary: name them first
  void end() const&& = delete;    // the lines go with the temporary: name them first

  /// The value of that name in each line, NaN if it is missing or null; empty for a log without lines. Throws
  /// for a text or a list, naming its line and file, and when there are lines but none has the name, listing
  /// all names.
  std::vector<double> column(std::string_view name) const;

  /// The lines that have a value of that name other than null, such as one that is measured only in some
  /// steps; empty for a log without lines. Throws when there are lines but none has the name.
  ///
  ///   const kit::LogLines v = lines.with("validation");
  ///   kit::plot(v.column("step"), v.column("validation")).save("validation.svg");
  LogLines with(std::string_view name) const;

 private:
  friend class LogReader;
  void check_name(const char* op, std::string_view name) const;
  /// "line 3 of m.jsonl".
  std::string place(const LogLine& line) const;
  std::vector<LogLine> lines_;
  std::string file_;  // the file read; empty: none
};

/// Reads a run log; a missing file has no lines. Skips a last line cut off by a kill; any other line that is
/// not a JSON object of numbers, bools, texts, nulls and lists of numbers is an error that names file and
/// line.
///
///   const kit::LogLines log = kit::read_run_log("runs/a/metrics.jsonl");
///   std::vector<double> losses = log.column("loss");
LogLines read_run_log(const std::filesystem::path& path);

}  // namespace gradus::kit
