#pragma once
// Words for things: in files and in sentences.

#include <string>
#include <vector>

#include "lab/analysis/statistics.h"
#include "lab/training/training.h"

namespace gradus::lab {

/// "pre", "post", "deepnorm": the words of the files and the command line.
std::string name_of(const Placement& placement);
/// The placement of a word; throws where nn::placement_named does.
Placement placement_named(const std::string& name);
/// "Pre-LN", "Post-LN", "DeepNorm": the words of texts.
std::string title_of(const Placement& placement);
/// Without "-LN": "Pre".
std::string short_title_of(const Placement& placement);
/// "Post-LN - Pre-LN": the second minus the first.
std::string difference_words(const Placements& placements);

/// What an ablation changes, after "Pre-LN " or the like: "without its final norm", "with a final norm",
/// "with scaled residual init"; "as it is" for a run that is none.
std::string ablation_words(const RunOptions& run);
/// "without warm-up", "with 100 steps of warm-up".
std::string warmup_words(std::int64_t warmup);

/// A loss: "0.915".
std::string nats(double value);
/// A change, its mean and range over seeds: "+0.117 (+0.074 to +0.160)"; of one seed only "+0.117".
std::string with_range(const Difference& difference);
/// "6 of 6 seeds".
std::string agreement(const Difference& difference);

/// "2", "2 and 6", "2, 6 and 12".
std::string listed(const std::vector<std::string>& words);
std::string listed(const std::vector<std::int64_t>& numbers);
std::string listed(const std::vector<double>& numbers);

/// "1 run", "3 runs".
std::string counted(std::int64_t count, const std::string& noun);

}  // namespace gradus::lab
