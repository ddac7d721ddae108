#pragma once
// The first section of docs/results.md: five questions of practice, answered by the ledger.

#include <string>
#include <vector>

#include "lab/claims/ledger.h"

namespace gradus::docs {

/// A numbered list in Markdown. Each answer has outcome, figure, interval and scope, and a link to its claim:
/// of the claims that answer a question, the first that is measured. A question that none answers says so.
std::string practice(const std::vector<lab::JudgedClaim>& ledger);

}  // namespace gradus::docs
