#include "lab/studies/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/kit/chart/axis.h"

namespace gradus::lab {

namespace {

std::vector<std::vector<double>> by_rate(const StudyResults& results, const Search& search) {
  std::vector<std::vector<double>> values;
  for (const double rate : search.rates) values.push_back(at_rate(results, search, rate));
  return values;
}

}  // namespace

Found best_of(const StudyResults& results, const Search& search) {
  const std::vector<std::vector<double>> values = by_rate(results, search);
  const std::vector<std::optional<std::size_t>> chosen = best_of_others(values);
  Found found{.values = at_chosen(values, chosen), .rates = {}};
  for (const std::optional<std::size_t>& rate : chosen)
    found.rates.push_back(rate ? search.rates[*rate] : std::numeric_limits<double>::quiet_NaN());
  return found;
}

std::vector<double> at_best(const StudyResults& results, const Search& search, const std::string& number) {
  std::vector<double> values = best_of(results, search).rates;
  for (std::size_t s = 0; s < values.size(); ++s)
    if (!std::isnan(values[s])) values[s] = results.number(search.run(values[s], search.seeds[s]), number);
  return values;
}

std::vector<double> at_rate(const StudyResults& results, const Search& search, double rate) {
  std::vector<double> values;
  for (const std::uint64_t seed : search.seeds)
    values.push_back(results.number(search.run(rate, seed), search.number));
  return values;
}

std::vector<double> largest_rate(const StudyResults& results, const Search& search, double limit,
                                 double none) {
  const std::vector<std::vector<double>> values = by_rate(results, search);
  std::vector<double> largest(search.seeds.size(), none);
  for (std::size_t s = 0; s < largest.size(); ++s)
    for (std::size_t r = 0; r < values.size() && !std::isnan(largest[s]); ++r)
      if (std::isnan(values[r][s]))
        largest[s] = values[r][s];
      else if (values[r][s] <= limit)
        largest[s] = search.rates[r];
  return largest;
}

std::vector<double> mean_by_seed(const std::vector<std::vector<double>>& lists) {
  if (lists.empty()) return {};
  std::vector<double> means;
  for (std::size_t s = 0; s < lists.front().size(); ++s) {
    double sum = 0;
    for (const std::vector<double>& list : lists) sum += list.at(s);
    means.push_back(sum / static_cast<double>(lists.size()));
  }
  return means;
}

std::string chosen_rates(const Found& found) {
  const std::vector<double> rates = finite(found.rates);
  if (rates.empty()) return "\u2013";
  const auto chosen = [&](double rate) { return std::count(rates.begin(), rates.end(), rate); };
  const double most = *std::max_element(rates.begin(), rates.end(),
                                        [&](double a, double b) { return chosen(a) < chosen(b); });
  return kit::number_text(most) +
         (chosen(most) < std::ssize(rates) ? fmt::format(" ({} of {})", chosen(most), rates.size()) : "");
}

}  // namespace gradus::lab
