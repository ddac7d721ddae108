#include "gradus/kit/chart/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gradus::kit {
namespace {

std::string superscript(int number) {
  constexpr const char* digits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                    "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = number < 0 ? "\u207B" : "";
  for (const char digit : std::to_string(std::abs(number))) text += digits[digit - '0'];
  return text;
}

std::string with_real_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

// Separates thousands by narrow no-break spaces, from 10,000 up.
std::string grouped(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  const std::size_t stop = std::min(digits.find('.'), digits.size());
  if (stop - start < 5) return digits;
  for (std::size_t place = stop - 3; place > start; place -= std::min<std::size_t>(3, place)) {
    digits.insert(place, "\u202F");
  }
  return digits;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

double round_step(double raw) {
  raw = std::min(raw, 9e307);  // so that ten times its power of ten is finite
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double multiple : {1.0, 2.0, 5.0}) {
    if (raw <= multiple * power * (1 + 1e-9)) return multiple * power;
  }
  return 10 * power;
}

// The round step near the even division whose number of ticks is nearest to `wanted`.
double best_step(Range range, int wanted) {
  const int steps = std::max(wanted, 1);
  const double wide =
      round_step(std::isinf(range.span()) ? range.high / steps - range.low / steps : range.span() / steps);
  const double narrow = round_step(wide * 0.4);
  const auto distance = [&](double step) {
    return std::abs(std::floor(range.high / step) - std::ceil(range.low / step) + 1 - wanted);
  };
  return distance(narrow) < distance(wide) ? narrow : wide;
}

// A step of 1, 2 or 5 times a power of ten, and the labels of its multiples, with enough digits to
// distinguish them.
struct Step {
  Step(double size, double largest_value)
      : value(size), power(static_cast<int>(std::floor(std::log10(size) + 1e-9))), largest(largest_value) {}

  // Whole numbers keep 0.1 + 0.1 + ... from drifting.
  double times(double n) const {
    const bool exact = power < 0 && power >= -22;  // 10^22 is the largest exact power of ten in double
    if (!exact) return n * value;
    const double tens = std::pow(10, -power);
    return n * std::round(value * tens) / tens;
  }

  std::string label(double number) const {
    const int decimals = std::max(0, -power);
    const int digits = static_cast<int>(std::floor(std::log10(largest))) - power + 1;
    const bool plain = largest < 1e6 && decimals <= 5;
    if (plain || (digits > 4 && largest >= 1e-4 && largest < 1e15)) return fixed_text(number, decimals);
    return number_text(number, std::max(digits, 4));
  }

  double value;
  int power;
  double largest;
};

std::vector<Tick> linear_ticks(Range range, int wanted) {
  std::vector<Tick> ticks;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (!(range.low < range.high) || std::isinf(largest)) return ticks;
  // Ticks nearer to each other than eight adjacent doubles would be misplaced.
  const double least = 8 * (largest - std::nextafter(largest, 0));
  const double best = best_step(range, wanted);
  const Step step(best < least ? round_step(least) : best, largest);
  if (!(step.value > 0) || !std::isfinite(step.value)) return ticks;
  const double first = std::ceil(range.low / step.value - 1e-9);
  const double last = std::floor(range.high / step.value + 1e-9);
  const double margin = step.value * 1e-9;
  for (double n = first; n <= last && ticks.size() < 100; ++n) {
    const double value = step.times(n);
    if (value >= range.low - margin && value <= range.high + margin)
      ticks.push_back({value, step.label(value)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(Range range, int wanted) {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  const double ratio = range.high / range.low;
  const double decades =
      std::isinf(ratio) ? std::log10(range.high) - std::log10(range.low) : std::log10(ratio);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(wanted, 1))));
  // As many as fit: 1, 2 and 5, or 1 and 3, or only powers of ten.
  std::vector<double> multiples = {1};
  if (decades * 2 <= wanted + 0.5) multiples = {1, 3};
  if (decades * 3 <= wanted + 0.5) multiples = {1, 2, 5};
  for (int power = first; power <= last; ++power) {
    for (const double multiple : multiples) {
      const double value = multiple * std::pow(10, power);
      if (value < range.low * (1 - 1e-9) || value > range.high * (1 + 1e-9)) continue;
      if (std::isinf(value)) continue;
      const bool labelled = multiple != 1 || power % every == 0;
      ticks.push_back({value, labelled ? number_text(value) : ""});
    }
  }
  const auto labelled =
      std::count_if(ticks.begin(), ticks.end(), [](const Tick& t) { return !t.label.empty(); });
  return labelled >= 2 ? ticks : linear_ticks(range, wanted);
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return number_text(value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-'))
    text.erase(0, 1);  // no -0.00
  return with_real_minus(grouped(text));
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "\u2013";
  if (std::isinf(value)) return value > 0 ? "\u221E" : "\u2212\u221E";
  if (value == 0) return "0";
  const std::string scientific = fmt::format("{:.{}e}", value, std::max(digits - 1, 0));
  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (exponent >= -4 && exponent < 6) {
    const int decimals = std::max(0, digits - 1 - exponent);
    return with_real_minus(grouped(without_trailing_zeros(fmt::format("{:.{}f}", value, decimals))));
  }
  const std::string factor = with_real_minus(without_trailing_zeros(scientific.substr(0, e)));
  const std::string power = "10" + superscript(exponent);
  if (factor == "1") return power;
  return factor == "\u22121" ? "\u2212" + power : factor + "\u00B7" + power;
}

Scale::Scale(AxisKind kind, Range values, double from, double to)
    : kind_(kind), values_(values), from_(from), to_(to) {}

double Scale::position(double value) const { return kind_ == AxisKind::log ? std::log(value) : value; }

double Scale::operator()(double value) const {
  if (!std::isfinite(value) || (kind_ == AxisKind::log && value <= 0)) return nothing;
  const double low = position(values_.low);
  const double high = position(values_.high);
  if (std::isinf(high - low)) {  // quarters of the values, whose difference is finite
    const double share = (position(value) / 4 - low / 4) / (high / 4 - low / 4);
    return from_ + share * (to_ - from_);
  }
  return from_ + (position(value) - low) / (high - low) * (to_ - from_);
}

std::vector<Tick> nice_ticks(AxisKind kind, Range range, int wanted) {
  return kind == AxisKind::log ? log_ticks(range, wanted) : linear_ticks(range, wanted);
}

std::vector<Tick> ticks_at(std::vector<double> marks, Range range) {
  std::erase_if(marks, [&](double mark) { return !(mark >= range.low && mark <= range.high); });
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  std::vector<Tick> ticks;
  for (int digits = 4; digits <= 17; ++digits) {
    ticks.clear();
    for (const double mark : marks) ticks.push_back({mark, number_text(mark, digits)});
    const auto same = [](const Tick& a, const Tick& b) { return a.label == b.label; };
    if (std::adjacent_find(ticks.begin(), ticks.end(), same) == ticks.end()) break;
  }
  return ticks;
}

}  // namespace gradus::kit
