#include "lab/studies/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/kit/chart/axis.h"

namespace gradus::lab {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using Row = std::vector<double>;  // of one seed, by rate

/// Empty for a seed that is not complete.
std::vector<Row> rows_of(const StudyResults& results, const Search& search) {
  std::vector<Row> rows;
  for (const std::uint64_t seed : search.seeds) {
    Row row;
    for (const double rate : search.rates)
      row.push_back(results.number(search.run(rate, seed), search.number));
    if (std::any_of(row.begin(), row.end(), [](double value) { return std::isnan(value); })) row.clear();
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The place of the least mean over the rows but `left_out`; over that row alone where there is no other.
std::size_t best_without(const std::vector<Row>& rows, std::size_t left_out) {
  Row sums(rows[left_out].size(), 0);
  bool any = false;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    if (s == left_out || rows[s].empty()) continue;
    any = true;
    for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += rows[s][r];
  }
  const Row& judged = any ? sums : rows[left_out];
  return static_cast<std::size_t>(std::min_element(judged.begin(), judged.end()) - judged.begin());
}

}  // namespace

Found best_of(const StudyResults& results, const Search& search) {
  const std::vector<Row> rows = rows_of(results, search);
  Found found;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const bool complete = !rows[s].empty();
    const std::size_t best = complete ? best_without(rows, s) : 0;
    found.values.push_back(complete ? rows[s][best] : kUnknown);
    found.rates.push_back(complete ? search.rates[best] : kUnknown);
  }
  return found;
}

std::vector<double> at_rate(const StudyResults& results, const Search& search, double rate) {
  std::vector<double> values;
  for (const std::uint64_t seed : search.seeds)
    values.push_back(results.number(search.run(rate, seed), search.number));
  return values;
}

std::vector<double> largest_rate(const StudyResults& results, const Search& search, double limit,
                                 double none) {
  std::vector<double> largest;
  for (const Row& row : rows_of(results, search)) {
    double rate = row.empty() ? kUnknown : none;
    for (std::size_t r = 0; r < row.size(); ++r)
      if (row[r] <= limit) rate = search.rates[r];
    largest.push_back(rate);
  }
  return largest;
}

std::vector<double> paired(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t s = 0; s < std::min(a.size(), b.size()); ++s)
    if (!std::isnan(a[s]) && !std::isnan(b[s])) differences.push_back(a[s] - b[s]);
  return differences;
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
