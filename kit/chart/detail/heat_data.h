#pragma once
// The data of a heat map, prepared for drawing.

#include <limits>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// The shades of a map's cells, the best cell, and the text of values.
class HeatCells {
 public:
  /// Throws unless there is at least one cell, and a value for each cell.
  explicit HeatCells(const HeatMap& map);

  double darkest() const { return darkest_; }  // infinite when no value is finite
  double lightest() const { return lightest_; }
  /// From 0 for the lightest to 1 for the darkest value.
  double shade(double value) const;
  /// Whether low_is_good is set.
  bool judged() const { return judged_; }
  bool is_best(double value) const { return judged_ && value == best_; }
  std::string text(double value) const;

 private:
  double darkest_ = std::numeric_limits<double>::infinity();
  double lightest_ = -std::numeric_limits<double>::infinity();
  double best_;
  bool judged_;
  std::string missing_;
  int decimals_;
};

}  // namespace gradus::kit
