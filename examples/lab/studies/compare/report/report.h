#pragma once
// The page of the comparison and its summary.json.

#include "lab/studies/compare/analysis/verdict.h"
#include "lab/study/page.h"

namespace gradus::lab::compare {

/// The line under the title; `finished` models have been trained.
std::string question_of(const Settings& settings, std::size_t finished);

void draw_report(Page& page, const Results& results);

// Its parts.
void add_initialisation(Page& page, const Results& results);
void add_training(Page& page, const Analysis& analysis);
void add_ablations(Page& page, const Analysis& analysis);

}  // namespace gradus::lab::compare
