#pragma once
// What the parts of the page share.

#include "lab/studies/start/start.h"

namespace gradus::lab::start {

void add_signal(Page& page, const StudyResults& results);
void add_gradients(Page& page, const StudyResults& results);
void add_shortcuts(Page& page, const StudyResults& results);
void add_formulas(Page& page, const StudyResults& results);
void add_tokens(Page& page, const StudyResults& results);
void add_training(Page& page, const StudyResults& results);

// Sentences by what came out; empty where nothing has yet.
/// How Post-LN's first gradient stands to its last.
std::string describe_vanishing(const StudyResults& results);
/// Which placement's layers differ more, scheme by scheme.
std::string describe_spreads(const StudyResults& results);
/// What is left at the bottom of 8 blocks with and without shortcuts.
std::string describe_shortcuts(const StudyResults& results);
/// Which placement's outputs are larger, in the mean over the first kEarly steps.
std::string describe_training(const StudyResults& results);

}  // namespace gradus::lab::start
