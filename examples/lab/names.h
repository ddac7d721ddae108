#pragma once
// Words for things: in files and in sentences.

#include <string>
#include <vector>

#include "lab/training.h"

namespace gradus::lab {

/// "pre" or "post": the words of the files.
const char* name_of(nn::Placement placement);
/// The placement of a word; throws for any other word.
nn::Placement placement_named(const std::string& name);
/// "Pre-LN" or "Post-LN": the words of texts.
const char* title_of(nn::Placement placement);

/// What an ablation changes: "without its final norm", "with a final norm", "with residual projections scaled
/// by 1/√(2L)"; "as it is" for a run that is none.
std::string ablation_words(const RunOptions& run);

/// "2", "2 and 6", "2, 6 and 12".
std::string listed(const std::vector<std::string>& words);
std::string listed(const std::vector<std::int64_t>& numbers);
std::string listed(const std::vector<double>& numbers);

/// "1 run", "3 runs".
std::string counted(std::int64_t count, const std::string& noun);

}  // namespace gradus::lab
