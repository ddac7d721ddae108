#pragma once
// Axes: scales that map values to coordinates, and round values for ticks.

#include <limits>
#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// A missing value, which is not drawn.
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Whether equal distances mean equal differences or equal ratios.
enum class AxisKind { linear, log };

/// The values an axis spans.
struct Range {
  double low = 0;                             // the lowest value
  double high = 1;                            // the highest value
  double span() const { return high - low; }  // its length
};

/// Maps values to coordinates: `low` to `from`, `high` to `to`, linearly or by logarithm.
class Scale {
 public:
  Scale() = default;
  Scale(AxisKind kind, Range values, double from, double to);

  /// The coordinate of a value; NaN if a log axis cannot show it.
  double operator()(double value) const;
  AxisKind kind() const { return kind_; }
  const Range& values() const { return values_; }
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double position(double value) const;  // the value or its logarithm
  AxisKind kind_ = AxisKind::linear;
  Range values_;
  double from_ = 0;
  double to_ = 1;
};

/// A mark of an axis.
struct Tick {
  double value;       // its position
  std::string label;  // empty for a mark without a number
};

/// About `wanted` round values inside the range: multiples of 1, 2 or 5 times a power of ten; on a log axis
/// powers of ten, with 2 and 5, or 3, between them if there is room. Labels have enough digits to differ.
std::vector<Tick> nice_ticks(AxisKind kind, Range range, int wanted);

/// The marks inside the range, in order, with distinct labels.
std::vector<Tick> ticks_at(std::vector<double> marks, Range range);

/// Formats a value with a fixed number of decimals; minus and thousands as in number_text.
std::string fixed_text(double value, int decimals);

/// Formats a value for readers: "0.0003", "12 000", "1.5", "3·10⁻⁷"; at most `digits` significant digits. A
/// minus is U+2212, NaN a dash.
std::string number_text(double value, int digits = 4);

}  // namespace gradus::kit
