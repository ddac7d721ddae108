#pragma once
// docs/claims.md, the ledger: made from the claims of the lab and docs/data/studies, the committed
// measurement; and what other pages say of claims, checked against it.

#include <filesystem>
#include <string>
#include <vector>

#include "lab/program/study_page.h"

namespace gradus::docs {

/// The whole page, from the committed measurement.
std::string claims_page(const std::vector<lab::MeasuredStudy>& studies);

/// What is wrong with a page: a claim is stated (one of its phrases stands there) without a link to its row,
/// a link names a row there is not, or a paragraph that links rows gives a figure with an interval, "0.12
/// (0.05 to 0.19)", that none of these rows has.
std::vector<std::string> faults_of(const std::string& page, const std::vector<lab::JudgedClaim>& ledger);

/// Copies the files of finished studies that are committed: study.json, without what tells machines apart,
/// and runs.jsonl, without the curves of single steps that `compare` keeps. Throws where a study has not
/// finished, or was not run with the budget "full".
void record_studies(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace gradus::docs
