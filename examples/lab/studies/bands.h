#pragma once
// Lines of several seeds as the pages of studies draw them: the mean, and a band from the lowest to the
// highest seed. Values that are NaN or infinite are left out.

#include <string>
#include <vector>

#include "gradus/kit/chart/chart.h"

namespace gradus::lab {

/// The finite ones.
std::vector<double> finite(const std::vector<double>& values);

/// values[i] are those of all seeds at x[i]: `chart.series.push_back(band("Pre-LN", depths, values, 0));`
kit::Series band(const std::string& name, const std::vector<double>& x,
                 const std::vector<std::vector<double>>& values, int style);

/// The same of whole curves, one a seed, over 1, 2, ... or over `x` where it is given. Curves that are
/// shorter than the longest count as far as they go.
kit::Series band_of_curves(const std::string& name, const std::vector<std::vector<double>>& curves, int style,
                           const std::vector<double>& x = {});

/// "0.12 (0.05 to 0.19)": mean, lowest and highest seed; a dash for none.
std::string mean_and_range(const std::vector<double>& values, int digits = 3);

/// For captions: "Lines are means over 10 seeds, bands go from the lowest to the highest."
std::string band_words(std::size_t seeds);

}  // namespace gradus::lab
