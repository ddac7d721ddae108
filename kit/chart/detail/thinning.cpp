#include "gradus/kit/chart/detail/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradus::kit {
namespace {

// A power of two that keeps sums of very large values finite.
double unit_of(const std::vector<double>& values) {
  const bool huge = std::any_of(values.begin(), values.end(),
                                [](double v) { return std::isfinite(v) && std::abs(v) > 1e280; });
  return huge ? 0x1p-100 : 1;
}

// Sums and ends of all points in one slice of the axis.
struct Slice {
  double x = 0, y = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  int points = 0, finite = 0;
};

// Keeps the first and last point; between them, the mean of each slice with its smallest and largest value.
Series condensed(const Series& series, const Scale& slices) {
  std::vector<Slice> sums(most_points);
  const std::size_t last = series.x.size() - 1;
  const bool has_spread = !series.low.empty();
  const double x_unit = unit_of(series.x);
  const double y_unit = unit_of(series.y);
  for (std::size_t i = 1; i < last; ++i) {
    const double place = slices(series.x[i]);
    if (std::isnan(place)) continue;
    Slice& slice =
        sums[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(most_points - 1)))];
    ++slice.points;
    slice.x += series.x[i] * x_unit;
    if (!std::isfinite(series.y[i])) continue;
    ++slice.finite;
    slice.y += series.y[i] * y_unit;
    slice.low = std::min(slice.low, has_spread ? series.low[i] : series.y[i]);
    slice.high = std::max(slice.high, has_spread ? series.high[i] : series.y[i]);
  }
  Series result = series;
  result.spread = Spread::band;
  result.x.clear(), result.y.clear(), result.low.clear(), result.high.clear();
  const auto keep = [&](std::size_t i) {
    result.x.push_back(series.x[i]);
    result.y.push_back(series.y[i]);
    result.low.push_back(has_spread ? series.low[i] : series.y[i]);
    result.high.push_back(has_spread ? series.high[i] : series.y[i]);
  };
  keep(0);
  for (const Slice& slice : sums) {
    if (slice.points == 0) continue;
    const bool empty = slice.finite == 0;  // no finite values: a gap in the line
    result.x.push_back(slice.x / slice.points / x_unit);
    result.y.push_back(empty ? nothing : slice.y / slice.finite / y_unit);
    result.low.push_back(empty ? nothing : slice.low);
    result.high.push_back(empty ? nothing : slice.high);
  }
  keep(last);
  return result;
}

// Keeps every k-th point, the last one, and gaps between them.
Series every_kth(const Series& series) {
  const std::size_t size = series.x.size();
  const std::size_t step = (size + most_drawn - 1) / most_drawn;
  Series result = series;
  result.x.clear(), result.y.clear(), result.low.clear(), result.high.clear();
  const auto keep = [&](std::size_t i) {
    result.x.push_back(series.x[i]);
    result.y.push_back(series.y[i]);
    if (series.low.empty()) return;
    result.low.push_back(series.low[i]);
    result.high.push_back(series.high[i]);
  };
  const auto gap = [&](std::size_t i) { return !std::isfinite(series.x[i]) || !std::isfinite(series.y[i]); };
  for (std::size_t i = 0; i < size; i += step) {
    keep(i);
    const std::size_t stop = std::min(i + step, size - 1);
    for (std::size_t j = i + 1; series.line && j < stop; ++j) {
      if (!gap(j)) continue;
      keep(j);
      break;
    }
  }
  if ((size - 1) % step != 0) keep(size - 1);
  return result;
}

// False if x decreases, as on a circle, or in a log with two runs.
bool x_rises(const Series& series) {
  double before = -std::numeric_limits<double>::infinity();
  for (const double x : series.x) {
    if (x < before) return false;
    if (!std::isnan(x)) before = x;
  }
  return true;
}

}  // namespace

Thinning thinning_of(const Series& series) {
  if (series.x.size() <= most_points) return Thinning::none;
  if (series.line && x_rises(series)) return Thinning::means;
  return series.x.size() > most_drawn ? Thinning::every_kth : Thinning::none;
}

Series with_fewer_points(const Series& series, const Scale& slices) {
  switch (thinning_of(series)) {
    case Thinning::means:
      return condensed(series, slices);
    case Thinning::every_kth:
      return every_kth(series);
    case Thinning::none:
      break;
  }
  return series;
}

}  // namespace gradus::kit
