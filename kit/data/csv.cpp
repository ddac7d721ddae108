#include "gradus/kit/data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/detail/read_number.h"

namespace gradus::kit {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Whether a number out of range is too small, not too large.
bool is_small(std::string_view number) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, end);
  const std::size_t point = std::min(digits.find('.'), end), first = digits.find_first_of("123456789");
  int exponent = 0;
  if (end < number.size() && read_number(number.substr(end + 1), exponent) != std::errc())
    return number[end + 1] == '-';  // no cell has as many digits
  return exponent + static_cast<std::int64_t>(point) < static_cast<std::int64_t>(first);
}

/// Reads the nearest T. Values that underflow are 0; only values that overflow are out of range.
template <class T>
std::errc read_cell(std::string_view text, T& value) {
  const std::errc error = read_number(text, value);
  if (error != std::errc::result_out_of_range || !is_small(text)) return error;
  value = text.starts_with('-') ? -T{} : T{};
  return {};
}

/// Reads a whole number, also written as 3.0 or 1e3.
template <>
std::errc read_cell(std::string_view text, std::int64_t& value) {
  constexpr double kAllWhole = 9007199254740992;  // 2^53: every whole number up to here is exact in double
  std::errc error = read_number(text, value);
  if (error != std::errc::invalid_argument) return error;
  double real = 0;
  error = read_number(text, real);
  if (error != std::errc()) return error;
  if (std::trunc(real) != real || std::abs(real) > kAllWhole) return std::errc::result_out_of_range;
  value = static_cast<std::int64_t>(real);
  return {};
}

template <class T>
bool holds(double value) {
  return !std::is_integral_v<T> || (std::trunc(value) == value && std::abs(value) < 0x1p63);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 30;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + io::quote(names[i]);
  return names.size() > kShown ? text + fmt::format(" and {} more", names.size() - kShown) : text;
}

}  // namespace

std::size_t Csv::find(const char* op, std::string_view column) const {
  const auto at = places_.find(column);
  if (at == places_.end())
    fail_with("Csv::{}: {} has no column {}; its {} {}{}", op, path_, io::quote(std::string(column)),
              columns_.size() == 1 ? "only column is" : "columns are", listed(columns_),
              columns_.size() == 1 ? ": is the delimiter right?" : "");
  return at->second;
}

std::string_view Csv::cell(std::size_t row, std::size_t column) const {
  const std::size_t i = row * columns_.size() + column;
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(cells_).substr(begin, ends_[i] - begin);
}

std::string Csv::place(std::size_t row, std::size_t column) const {
  return fmt::format("{}, line {}, column {}", path_, lines_[row], io::quote(columns_[column]));
}

template <class T>
T Csv::number(std::size_t row, std::size_t column) const {
  const std::string_view text = trimmed(cell(row, column));
  T value{};
  const std::errc error = read_cell(text, value);
  if (error == std::errc()) return value;
  if (text.empty() && missing_ && holds<T>(*missing_)) return static_cast<T>(*missing_);
  const std::string where = "Csv::tensor: " + place(row, column);
  const std::string word = io::quote(std::string(text));
  if (text.empty() && missing_)
    fail_with("{}: the cell is empty, and .missing = {} is not an i64; ask for f64", where, *missing_);
  if (text.empty())
    fail_with("{}: the cell is empty; pass read_csv a value for it, {{.missing = 0}} or {{.missing = NAN}}",
              where);
  check(error != std::errc::invalid_argument,
        "{}: {} is not a number; expects one such as -0.5 or 1e3; categories() and text() read words", where,
        word);
  if constexpr (std::is_integral_v<T>)
    fail_with("{}: {} is not a whole number in the range of i64; ask for f64", where, word);
  fail_with("{}: {} is too large for {}", where, word, std::is_same_v<T, float> ? "f32; ask for f64" : "f64");
}

template <class T>
void Csv::fill(const Tensor& tensor, const std::vector<std::size_t>& columns) const {
  T* to = tensor.mutable_span<T>().data();
  for (std::size_t row = 0; row < lines_.size(); ++row)
    for (const std::size_t column : columns) *to++ = number<T>(row, column);
}

Tensor Csv::tensor(const std::vector<std::string>& names, std::optional<DType> dtype) const {
  const DType type = dtype.value_or(default_dtype());
  check(type != boolean, "Csv::tensor: expects f32, f64 or i64, got bool; compare instead: x != 0");
  check(!names.empty(), "Csv::tensor: expects at least one column; {} has {}", path_, listed(columns_));
  std::vector<std::size_t> columns;
  for (const std::string& column : names) columns.push_back(find("tensor", column));
  const Tensor result = zeros({rows(), static_cast<std::int64_t>(columns.size())}, type);
  if (type == f32) fill<float>(result, columns);
  if (type == f64) fill<double>(result, columns);
  if (type == i64) fill<std::int64_t>(result, columns);
  return result;
}

std::vector<std::string> Csv::text(std::string_view column) const {
  const std::size_t at = find("text", column);
  std::vector<std::string> words;
  words.reserve(lines_.size());
  for (std::size_t row = 0; row < lines_.size(); ++row) words.emplace_back(cell(row, at));
  return words;
}

Categories Csv::categories(std::string_view column, std::vector<std::string> names) const {
  const std::size_t at = find("categories", column);
  std::map<std::string_view, std::int64_t> numbers;
  if (names.empty()) {
    for (std::size_t row = 0; row < lines_.size(); ++row) numbers[cell(row, at)];
    for (const auto& [word, number] : numbers) names.emplace_back(word);
  }
  for (std::size_t i = 0; i < names.size(); ++i) numbers[names[i]] = static_cast<std::int64_t>(i);
  check(numbers.size() == names.size(), "Csv::categories: the names {} are not all different", listed(names));

  const Tensor ids = zeros({rows()}, i64);
  const std::span<std::int64_t> to = ids.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    const auto found = numbers.find(cell(row, at));
    if (found == numbers.end())
      fail_with("Csv::categories: {}: {} is none of {}", place(row, at),
                io::quote(std::string(cell(row, at))), listed(names));
    to[row] = found->second;
  }
  return {ids, std::move(names)};
}

}  // namespace gradus::kit
