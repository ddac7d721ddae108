#pragma once
// What the parts of the page share.

#include <string>
#include <vector>

#include "lab/studies/start/start.h"
#include "lab/study/page.h"

namespace gradus::lab::start {

/// A number, or a series, of a run for each seed that has one.
std::vector<double> over_seeds(const StudyResults& results, const std::string& placement,
                               const std::string& scheme, std::int64_t layers, const std::string& number);
std::vector<std::vector<double>> curves_of(const StudyResults& results, const std::string& placement,
                                           const std::string& scheme, const std::string& series);

/// exp of the mean of the logarithms: for ratios, which the ledger's intervals take by their logarithms, too.
double geometric_mean(const std::vector<double>& values);
/// A line of band() through the geometric means of values[i] instead.
kit::Series geometric(kit::Series series, const std::vector<std::vector<double>>& values);

void add_signal(Page& page, const StudyResults& results);
void add_gradients(Page& page, const StudyResults& results);
void add_shortcuts(Page& page, const StudyResults& results);
void add_formulas(Page& page, const StudyResults& results);
void add_tokens(Page& page, const StudyResults& results);
void add_training(Page& page, const StudyResults& results);

// Sentences by what came out; empty where nothing has yet.
/// How Post-LN's first gradient stands to its last.
std::string vanishing_sentence(const StudyResults& results);
/// Which placement's layers differ more, scheme by scheme.
std::string spread_sentence(const StudyResults& results);
/// What is left at the bottom of 8 blocks with and without shortcuts.
std::string shortcut_sentence(const StudyResults& results);
/// Which placement's outputs are larger, in the mean over the first kEarly steps.
std::string training_sentence(const StudyResults& results);

}  // namespace gradus::lab::start
