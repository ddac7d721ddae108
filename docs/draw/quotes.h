#pragma once
// Checks what pages say about the ledger, so a new measurement makes the test docs.claims fail until the text
// of every page agrees with it.

#include <string>
#include <vector>

#include "lab/claims/ledger.h"

namespace gradus::docs {

enum class PageKind { page, chapter };

/// Lists a page's faults. A unit is a paragraph, an item of a list or a row of a table.
/// - The page states a claim (contains one of its phrases) without a link to its row, or links to a row that
///   does not exist.
/// - A unit with links to rows or to the page of results has a figure with an interval, "0.12 (0.05 to 0.19)"
/// or
///   "0.12 nats (0.05 to 0.19)", or another number with decimals, that is neither in these rows, nor on that
///   page (`results`), nor in a block of code or output of its own page. Signs may differ: "0.1 lower".
/// - In a chapter, the same for every unit with a figure with an interval.
/// - A list under a heading such as "**Claims that hold.**" links a claim with another verdict.
std::vector<std::string> faults_of(const std::string& page, const std::vector<lab::JudgedClaim>& ledger,
                                   const std::string& results = "", PageKind kind = PageKind::page);

}  // namespace gradus::docs
