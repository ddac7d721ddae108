#pragma once
// A fair search: whatever is compared has the same rates, the same seeds and the same steps, and no seed
// chooses the rate it is judged at.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/studies/bands.h"
#include "lab/studies/left_out.h"
#include "lab/study/study.h"

namespace gradus::lab {

/// What was run of one candidate: run(rate, seed) names the run, whose `number` is to be small.
struct Search {
  std::vector<double> rates;
  std::vector<std::uint64_t> seeds;
  std::function<std::string(double rate, std::uint64_t seed)> run;
  std::string number = "loss";
};

/// Both in the order of the seeds; NaN where a run of that seed has not finished.
struct Found {
  std::vector<double> values;
  std::vector<double> rates;
};

/// For each seed the rate that is best in the mean of the *other* seeds (best_of_others), and the seed's own
/// number there. Runs that diverged count with the loss they started from.
Found best_of(const StudyResults& results, const Search& search);

/// Another number of the runs that best_of() chose, in the order of the seeds: "right", where `search` is by
/// "loss". NaN where a run of that seed has not finished.
std::vector<double> at_best(const StudyResults& results, const Search& search, const std::string& number);

/// The numbers at one rate, in the order of the seeds; NaN where a run has not finished.
std::vector<double> at_rate(const StudyResults& results, const Search& search, double rate);

/// For each seed the largest rate whose number is at most `limit`; where there is none, `none`. NaN where a
/// run of that seed has not finished.
std::vector<double> largest_rate(const StudyResults& results, const Search& search, double limit,
                                 double none);

/// The mean over several lists, seed by seed; NaN where one of them is.
std::vector<double> mean_by_seed(const std::vector<std::vector<double>>& lists);

/// "0.003 (5 of 7)": the rate that most seeds have, and how many, where not all; a dash for none.
std::string chosen_rates(const Found& found);

}  // namespace gradus::lab
