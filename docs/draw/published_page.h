#pragma once
// Generates docs/published.md: findings of papers next to the lab's figures.

#include <string>
#include <vector>

#include "lab/program/study_page.h"

namespace gradus::docs {

/// The whole page, from the committed measurement. Throws if a row names a claim or a measure that the ledger
/// does not have.
std::string published_page(const std::vector<lab::MeasuredStudy>& studies);

}  // namespace gradus::docs
