#pragma once
// A fair search: all candidates have the same rates, seeds and steps, and no seed chooses the rate it is
// judged at.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/charts.h"
#include "lab/studies/left_out.h"
#include "lab/studies/runs.h"

namespace gradus::lab {

/// The runs of one candidate: run(rate, seed) names the run, whose `number` should be small.
struct Search {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::function<std::string(double rate, std::uint64_t seed)> run;
  std::string number = "loss";
  bool large_is_good = false;
  /// Replaces a number that is not finite, such as all steps for a run that never reached a loss.
  std::optional<double> otherwise = {};
};

/// All in the order of the seeds; NaN, or no name, where a run of that seed has not finished.
struct Found {
  std::vector<double> values;
  std::vector<double> rates;
  std::vector<std::string> runs = {};
  std::vector<std::size_t> searches = {};  // of several, the index of the chosen one
};

/// For each seed the rate that is best on average over the *other* seeds (best_of_others), and the seed's own
/// number there. Runs that diverged count with the loss they started from.
Found best_of(const StudyResults& results, const Search& search);
/// The same over the rates of several searches with the same seeds, such as without and with warm-up.
Found best_of(const StudyResults& results, const std::vector<Search>& searches);

/// Another number of the runs that best_of() chose, in the order of the seeds: "right", where `search` is by
/// "loss". NaN where a run of that seed has not finished.
std::vector<double> at_best(const StudyResults& results, const Search& search, const std::string& number);
/// Series of the chosen runs that have finished.
std::vector<std::vector<double>> curves_at_best(const StudyResults& results, const Found& found,
                                                const std::string& series);

/// The numbers at one rate, in the order of the seeds; NaN where a run has not finished.
std::vector<double> at_rate(const StudyResults& results, const Search& search, double rate);
/// [rate][seed]
std::vector<std::vector<double>> by_rate(const StudyResults& results, const Search& search);
/// Another number of all finished runs of the search.
std::vector<double> of_all_rates(const StudyResults& results, const Search& search,
                                 const std::string& number);

/// The means over the seeds that have finished, by rate.
std::vector<double> means_by_rate(const StudyResults& results, const Search& search);

/// For each seed the largest rate whose number is below `limit`; where there is none, `none`. NaN where a run
/// of that seed has not finished.
std::vector<double> largest_rate(const StudyResults& results, const Search& search, double limit,
                                 double none);

/// For each seed how many rates have a number below `limit`; NaN where a run of that seed has not finished.
std::vector<double> count_below(const StudyResults& results, const Search& search, double limit);

/// The mean over several lists, seed by seed; NaN where one of them is.
std::vector<double> mean_by_seed(const std::vector<std::vector<double>>& lists);
/// a - b, seed by seed; NaN where either is. paired_difference() leaves such seeds out.
std::vector<double> minus(std::vector<double> a, const std::vector<double>& b);

/// Sensitivity to the rate, seed by seed (Wortsman et al. 2023, arXiv:2309.14322): the mean over rates minus
/// the best. NaN where a run of that seed has not finished.
std::vector<double> sensitivities(const StudyResults& results, const Search& search);

/// "0.003 (5 of 7)": the rate that most seeds have, and their number if not all; a dash for none.
std::string chosen_rates(const Found& found);

}  // namespace gradus::lab
