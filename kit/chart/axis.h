#pragma once
// From numbers to places on the page, and the round numbers written beside them.

#include <limits>
#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// A value there is none of: it is not drawn.
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Whether equal distances are equal differences or equal ratios.
enum class AxisKind { linear, log };

/// The values an axis spans.
struct Range {
  double low = 0;                             // where it begins
  double high = 1;                            // where it ends
  double span() const { return high - low; }  // its length
};

/// Maps values to coordinates: `low` to `from`, `high` to `to`, evenly or by logarithm.
class Scale {
 public:
  Scale() = default;
  Scale(AxisKind kind, Range values, double from, double to);

  /// The coordinate of a value; NaN for one a log axis cannot show.
  double operator()(double value) const;
  AxisKind kind() const { return kind_; }
  const Range& values() const { return values_; }
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double position(double value) const;  // on the even ruler: the value or its logarithm
  AxisKind kind_ = AxisKind::linear;
  Range values_;
  double from_ = 0;
  double to_ = 1;
};

/// A mark of an axis.
struct Tick {
  double value;       // where it stands
  std::string label;  // may be empty: a mark without a number
};

/// About `wanted` round values inside the range: steps of 1, 2 or 5 times a power of ten; on a log axis
/// powers of ten, with 2 and 5, or 3, between them where there is room. Labels have as many digits as it
/// takes to tell them apart.
std::vector<Tick> nice_ticks(AxisKind kind, Range range, int wanted);

/// The marks inside the range, in order, with labels that differ.
std::vector<Tick> ticks_at(std::vector<double> marks, Range range);

/// A number with a fixed number of decimals; minus and thousands as in number_text.
std::string fixed_text(double value, int decimals);

/// A number for people: "0.0003", "12 000", "1.5", "3·10⁻⁷"; `digits` significant ones at most. A minus is
/// U+2212, NaN a dash.
std::string number_text(double value, int digits = 4);

}  // namespace gradus::kit
