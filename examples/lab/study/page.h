#pragma once
// What is drawn from a study's folder: report.html, plots/*.svg, numbers.csv and series.csv; over several
// studies index.html and claims.html.

#include <filesystem>
#include <string>
#include <vector>

#include "lab/claims/ledger.h"
#include "lab/study/records.h"

namespace gradus::lab {

/// Draws the page of a folder's study. Returns the sentence that sums it up.
std::string write_study_page(const std::filesystem::path& folder, const Study& study);

/// Draws all studies in folders of `folder`, and index.html and claims.html over them. Throws where there is
/// none.
void write_index(const std::filesystem::path& folder);

/// The folders of studies in `folder`, by name.
std::vector<std::filesystem::path> study_folders(const std::filesystem::path& folder);

/// All claims as the studies in folders of `folder` judge them.
std::vector<JudgedClaim> judge_all(const std::filesystem::path& folder);

/// What the verdicts of a folder are by: "quick form"; "full form, 12 of 26 runs, part 1 of 3".
std::string form_words(const StudyConfig& config, const StudyResults& results);

/// "Of 9 claims: 5 hold, 2 are false and 2 are unclear."
std::string summary_words(const std::vector<JudgedClaim>& claims);

}  // namespace gradus::lab
