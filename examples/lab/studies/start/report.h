#pragma once
// What the parts of the page share.

#include <string>
#include <vector>

#include "lab/report/page.h"
#include "lab/studies/start/start.h"

namespace gradus::lab::start {

/// A number, or a series, of a run for each seed that has one.
std::vector<double> over_seeds(const StudyResults& results, const std::string& placement,
                               const std::string& scheme, std::int64_t layers, const std::string& number);
std::vector<std::vector<double>> curves_of(const StudyResults& results, const std::string& placement,
                                           const std::string& scheme, const std::string& series);

void add_signal(Page& page, const StudyResults& results);
void add_gradients(Page& page, const StudyResults& results);
void add_shortcuts(Page& page, const StudyResults& results);
void add_formulas(Page& page, const StudyResults& results);
void add_tokens(Page& page, const StudyResults& results);
void add_training(Page& page, const StudyResults& results);

}  // namespace gradus::lab::start
