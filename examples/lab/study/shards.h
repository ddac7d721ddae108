#pragma once
// A study on several machines: its runs are independent, so each takes a part, and merge() joins their
// folders.

#include <filesystem>
#include <vector>

#include "lab/study/records.h"

namespace gradus::lab {

/// The runs of one part: the longest first, each to the part with the least work so far, those of a group
/// together. Every run is in exactly one. `runs` are the plan's or follow from them.
std::vector<StudyRun> part_of(const std::vector<StudyRun>& plan, const Shard& shard,
                              const std::vector<StudyRun>& runs);
std::vector<StudyRun> part_of(const std::vector<StudyRun>& plan, const Shard& shard);

/// Writes what the folders measured into `out`, in the order of the plan. Throws, writing nothing, if the
/// folders are not of one study with the same settings, or if a run is missing (naming its part) or in two
/// folders.
void merge(const Study& study, const std::vector<std::filesystem::path>& folders,
           const std::filesystem::path& out);

}  // namespace gradus::lab
