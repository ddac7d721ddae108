#include "learn/program/typed.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <istream>
#include <system_error>
#include <vector>

#include "gradus/core/check.h"

namespace gradus::learn {

namespace {

/// UTF-8 equivalents of ASCII characters; direction marks are equivalent to nothing.
std::vector<std::pair<std::string, std::string>> other_signs() {
  std::vector<std::pair<std::string, std::string>> signs = {
      {"−", "-"},      {"－", "-"},     {"＋", "+"},    {"．", "."},    {"٫", "."},
      {"，", ","},     {"٬", ","},      {"٪", "%"},     {"％", "%"},    {"\u00A0", " "},
      {"\u202F", " "}, {"\u3000", " "}, {"\u200E", ""}, {"\u200F", ""}, {"\u061C", ""}};
  for (char digit = 0; digit < 10; ++digit) {
    const std::string ascii(1, static_cast<char>('0' + digit));
    signs.emplace_back("\xD9" + std::string(1, static_cast<char>(0xA0 + digit)), ascii);      // Arabic
    signs.emplace_back("\xDB" + std::string(1, static_cast<char>(0xB0 + digit)), ascii);      // Persian
    signs.emplace_back("\xEF\xBC" + std::string(1, static_cast<char>(0x90 + digit)), ascii);  // full width
  }
  return signs;
}

/// The longest line: no intended number is longer.
constexpr std::size_t kLongestNumber = 1000;

/// The number of digits from `at` on.
std::size_t digits(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
}

/// Whether a comma may separate thousands, as in 1,000: three digits after it, and before it a number that
/// does not begin with 0 and has no point.
bool has_thousands(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at + digits(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    const bool whole = text[at] != '0' && (at == 0 || text[at - 1] != '.');
    if (whole && end < text.size() && text[end] == ',' && digits(text, end + 1) == 3) return true;
    at = end;
  }
  return false;
}

}  // namespace

std::string ascii_numbers(std::string_view line) {
  static const auto signs = other_signs();
  std::string text(line);
  for (const auto& [from, to] : signs)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

namespace {

/// A number and what follows it, without blanks; nothing if there is no number, or an ambiguous one.
std::optional<std::pair<double, std::string>> number_and_rest(std::string_view line) {
  if (line.size() > kLongestNumber) return {};
  std::string text = ascii_numbers(line);
  // No nan, inf or 0x10, which strtod reads too; and 49,984 is ambiguous: it may be a thousand times 49.984.
  if (text.find_first_not_of("0123456789+-.,eE% \t\r") != std::string::npos) return {};
  if (has_thousands(text)) return {};
  std::replace(text.begin(), text.end(), ',', '.');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number)) return {};
  std::string rest = end;
  std::erase_if(rest, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return {{number, rest}};
}

}  // namespace

std::optional<double> read_number(std::string_view line) {
  const auto found = number_and_rest(line);
  if (!found || !found->second.empty()) return {};
  return found->first;
}

std::optional<std::pair<double, double>> read_prediction(std::string_view line) {
  const auto found = number_and_rest(line);
  if (!found) return {};
  const auto& [number, rest] = *found;
  if (rest.empty()) return {{number, 0.5}};
  char* end = nullptr;
  const double sure = std::strtod(rest.c_str(), &end);
  if (end == rest.c_str() || std::string_view(end) != "%" || !(sure >= 0 && sure <= 100)) return {};
  return {{number, sure / 100}};
}

std::optional<std::size_t> read_choice(std::string_view line, std::size_t all) {
  if (line.size() > kLongestNumber) return {};
  const std::string text = ascii_numbers(line), blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank), last = text.find_last_not_of(blank);
  std::size_t choice = 0;
  if (first == std::string::npos) return {};
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + last + 1, choice);
  if (error != std::errc() || end != text.data() + last + 1 || choice < 1 || choice > all) return {};
  return choice;
}

bool read_line(std::istream& in, std::string& line) {
  constexpr std::size_t kLongestLine = 1 << 20;
  line.clear();
  for (int c; (c = in.get()) != std::istream::traits_type::eof() && c != '\n';) {
    if (line.size() == kLongestLine)
      fail_input_with("the input has a line of more than {} bytes, expects an answer on each", kLongestLine);
    line += static_cast<char>(c);
  }
  return in || !line.empty();
}

}  // namespace gradus::learn
