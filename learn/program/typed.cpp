#include "learn/program/typed.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <vector>

namespace gradus::learn {

namespace {

/// What stands for a sign of ASCII, in UTF-8; marks of direction stand for none.
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

}  // namespace

std::string ascii_numbers(std::string_view line) {
  static const auto signs = other_signs();
  std::string text(line);
  for (const auto& [from, to] : signs)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

std::optional<std::pair<double, double>> read_prediction(std::string_view line) {
  std::string text = ascii_numbers(line);
  // No nan, inf or 0x10, which strtod reads too; and nobody can say whether 49,984 is a thousand
  // times 49.984.
  if (text.find_first_not_of("0123456789+-.,eE% \t\r") != std::string::npos) return {};
  if (std::regex_search(text, std::regex("(^|[^0-9.])[1-9][0-9]*,[0-9]{3}(?![0-9])"))) return {};
  std::replace(text.begin(), text.end(), ',', '.');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number)) return {};
  std::string rest = end;
  std::erase_if(rest, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  if (rest.empty()) return {{number, 0.5}};
  const double sure = std::strtod(rest.c_str(), &end);
  if (end == rest.c_str() || std::string_view(end) != "%" || !(sure >= 0 && sure <= 100)) return {};
  return {{number, sure / 100}};
}

}  // namespace gradus::learn
