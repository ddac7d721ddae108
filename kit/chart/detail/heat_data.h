#pragma once
// What a heat map shows before any of it is drawn.

#include <limits>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

/// How good the values of a map are, and how they are written.
class HeatCells {
 public:
  /// Throws unless there is a value for each cell, and a cell.
  explicit HeatCells(const HeatMap& map);

  double best() const { return best_; }  // infinite when no value is finite
  double worst() const { return worst_; }
  /// From 0 for the worst to 1 for the best of the values.
  double goodness(double value) const;
  std::string text(double value) const;

 private:
  double best_ = std::numeric_limits<double>::infinity();
  double worst_ = -std::numeric_limits<double>::infinity();
  std::string missing_;
  int decimals_;
};

}  // namespace gradus::kit
