#pragma once
// Shared by the parts of the page.

#include "lab/studies/start/start.h"

namespace gradus::lab::start {

void add_signal(Page& page, const StudyResults& results);
void add_gradients(Page& page, const StudyResults& results);
void add_shortcuts(Page& page, const StudyResults& results);
void add_formulas(Page& page, const StudyResults& results);
void add_tokens(Page& page, const StudyResults& results);
void add_training(Page& page, const StudyResults& results);
void add_regulation(Page& page, const StudyResults& results);

// Sentences that depend on the results; empty without results.
/// How Post-LN's first gradient compares with its last.
std::string describe_vanishing(const StudyResults& results);
/// Which placement's layers differ more, scheme by scheme.
std::string describe_spreads(const StudyResults& results);
/// The share of the gradient at the bottom of 8 blocks with and without shortcuts.
std::string describe_shortcuts(const StudyResults& results);
/// Which placement's outputs are larger, on average over the first kEarly steps.
std::string describe_training(const StudyResults& results);

}  // namespace gradus::lab::start
