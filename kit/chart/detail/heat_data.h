#pragma once
// What a heat map shows before any of it is drawn.

#include <limits>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// How dark the cells of a map are, which is the best, and how values are written.
class HeatCells {
 public:
  /// Throws unless there is a value for each cell, and a cell.
  explicit HeatCells(const HeatMap& map);

  double darkest() const { return darkest_; }  // infinite when no value is finite
  double lightest() const { return lightest_; }
  /// From 0 for the lightest to 1 for the darkest of the values.
  double shade(double value) const;
  /// Whether good values are told from bad ones.
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
