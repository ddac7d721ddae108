#include "lab/studies/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/statistics/statistics.h"

namespace gradus::lab {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

double number_of(const StudyResults& results, const Search& search, const std::string& run) {
  const double value = results.number(run, search.number);
  return search.otherwise && results.has(run) && !std::isfinite(value) ? *search.otherwise : value;
}

}  // namespace

Found best_of(const StudyResults& results, const Search& search) {
  return best_of(results, std::vector<Search>{search});
}

Found best_of(const StudyResults& results, const std::vector<Search>& searches) {
  std::vector<std::vector<double>> values, badness;
  std::vector<std::pair<std::size_t, double>> settings;  // search and rate
  for (std::size_t i = 0; i < searches.size(); ++i)
    for (const double rate : searches[i].rates) {
      settings.emplace_back(i, rate);
      values.push_back(at_rate(results, searches[i], rate));
      badness.push_back(values.back());
      if (searches[i].large_is_good)
        for (double& value : badness.back()) value = -value;
    }
  const std::vector<std::optional<std::size_t>> chosen = best_of_others(badness);
  Found found{.values = at_chosen(values, chosen), .rates = {}};
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    const auto [search, rate] = chosen[s] ? settings[*chosen[s]] : std::pair(std::size_t{0}, kMissing);
    found.rates.push_back(rate);
    found.runs.push_back(chosen[s] ? searches[search].run(rate, searches[search].seeds[s]) : "");
    found.searches.push_back(search);
  }
  return found;
}

std::vector<double> at_best(const StudyResults& results, const Search& search, const std::string& number) {
  std::vector<double> values;
  for (const std::string& run : best_of(results, search).runs) values.push_back(results.number(run, number));
  return values;
}

std::vector<std::vector<double>> curves_at_best(const StudyResults& results, const Found& found,
                                                const std::string& series) {
  std::vector<std::vector<double>> curves;
  for (const std::string& run : found.runs)
    if (results.has(run)) curves.push_back(results.series(run, series));
  return curves;
}

std::vector<double> at_rate(const StudyResults& results, const Search& search, double rate) {
  std::vector<double> values;
  for (const std::uint64_t seed : search.seeds)
    values.push_back(number_of(results, search, search.run(rate, seed)));
  return values;
}

std::vector<std::vector<double>> by_rate(const StudyResults& results, const Search& search) {
  std::vector<std::vector<double>> values;
  for (const double rate : search.rates) values.push_back(at_rate(results, search, rate));
  return values;
}

std::vector<double> of_all_rates(const StudyResults& results, const Search& search,
                                 const std::string& number) {
  std::vector<double> values;
  for (const double rate : search.rates)
    for (const std::uint64_t seed : search.seeds)
      if (const std::string run = search.run(rate, seed); results.has(run))
        values.push_back(results.number(run, number));
  return values;
}

std::vector<double> means_by_rate(const StudyResults& results, const Search& search) {
  std::vector<double> means;
  for (const std::vector<double>& values : by_rate(results, search)) means.push_back(mean(finite(values)));
  return means;
}

std::vector<double> largest_rate(const StudyResults& results, const Search& search, double limit,
                                 double none) {
  const std::vector<std::vector<double>> values = by_rate(results, search);
  std::vector<double> largest(search.seeds.size(), none);
  for (std::size_t s = 0; s < largest.size(); ++s)
    for (std::size_t r = 0; r < values.size() && !std::isnan(largest[s]); ++r)
      if (std::isnan(values[r][s]))
        largest[s] = values[r][s];
      else if (values[r][s] < limit)
        largest[s] = search.rates[r];
  return largest;
}

std::vector<double> count_below(const StudyResults& results, const Search& search, double limit) {
  std::vector<double> counts(search.seeds.size());
  for (const std::vector<double>& values : by_rate(results, search))
    for (std::size_t s = 0; s < counts.size(); ++s)
      counts[s] += std::isnan(values[s]) ? kMissing : values[s] < limit ? 1 : 0;
  return counts;
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

std::vector<double> minus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t s = 0; s < a.size(); ++s) a[s] -= b.at(s);
  return a;
}

std::vector<double> sensitivities(const StudyResults& results, const Search& search) {
  const std::vector<std::vector<double>> values = by_rate(results, search);
  std::vector<double> least(search.seeds.size(), std::numeric_limits<double>::infinity());
  for (const std::vector<double>& at_rate : values)
    for (std::size_t s = 0; s < least.size(); ++s) least[s] = std::min(least[s], at_rate[s]);
  return minus(mean_by_seed(values), least);
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
