#pragma once
// Generates docs/claims.md, the ledger, from the claims of the lab and docs/data/studies, the committed
// measurement. quotes.h checks what other pages say about claims.

#include <filesystem>
#include <string>
#include <vector>

#include "lab/program/study_page.h"

namespace gradus::docs {

/// The whole page, from the committed measurement.
std::string claims_page(const std::vector<lab::MeasuredStudy>& studies);

/// Copies the files of finished studies that are committed: study.json, without details of the machine, and
/// runs.jsonl, without the step-by-step curves that `compare` records. Throws if a study has not finished
/// or was not run in its recorded form: with the budget "full", or "standard" for `compare`, whose figures
/// are those of `./run lab` without options.
void record_studies(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace gradus::docs
