#pragma once
// The files drawn from studies' folders: report.html, plots/*.svg, numbers.csv and series.csv; over several
// studies index.html and claims.html. A folder is read once.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lab/claims/ledger.h"
#include "lab/study/records.h"

namespace gradus::lab {

/// A study's folder, and the figures for its claims.
struct MeasuredStudy : StudyFolder {
  Figures figures;
  /// "quick form"; "full form, 12 of 26 runs, part 1 of 3".
  std::string form() const;
};

/// The folders of studies in `folder`, by name.
std::vector<std::filesystem::path> study_folders(const std::filesystem::path& folder);

/// Reads all of them. Throws if two are of one study.
std::vector<MeasuredStudy> studies_in(const std::filesystem::path& folder);

/// The study called `name`; nullptr if it is not among them.
const MeasuredStudy* find_study(const std::vector<MeasuredStudy>& studies, const std::string& name);

/// The claims of a study as it judges them.
std::vector<JudgedClaim> judged_by(const MeasuredStudy& study);
/// All claims as these studies judge them.
std::vector<JudgedClaim> judge_all(const std::vector<MeasuredStudy>& studies);

/// How many verdicts of the ledger a correction over all its measures would change, and which.
std::string describe_correction(const std::vector<JudgedClaim>& ledger);

/// "Of 9 claims: 5 hold, 2 are false and 2 are unclear."
std::string summarize_verdicts(const std::vector<JudgedClaim>& claims);

/// Draws the page of a study next to its files. Returns the sentence that sums it up.
std::string write_study_page(const MeasuredStudy& study);

using Sentences = std::map<std::string, std::string>;  // by name of study

/// Throws if `folder` has an index.html or claims.html that is not write_index()'s.
void check_pages(const std::filesystem::path& folder);

/// Draws the pages of all studies in `folder`, and index.html and claims.html over them. Throws, writing
/// nothing, if there is none, or as check_pages(). Returns the sentence of each study.
Sentences write_index(const std::filesystem::path& folder, const std::vector<MeasuredStudy>& studies);

}  // namespace gradus::lab
