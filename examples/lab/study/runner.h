#pragma once
// Runs a study: several runs at a time, each on its own thread; each finished run is written at once, so a
// stopped study keeps them.

#include <filesystem>

#include "lab/study/records.h"

namespace gradus::lab {

/// The approximate time of the runs that `folder` does not hold yet: seconds on a fast machine.
double seconds_left(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
                    std::int64_t threads);

/// Measures the runs that `folder` does not hold yet. An interrupted run starts again; its bits do not depend
/// on other runs. With a Crew, each of its ranks and this one measure one at a time, whatever `threads`.
/// Returns false if kit::interrupted() came before all were done. Throws what a run throws, with the run's
/// name.
bool run_study(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
               std::int64_t threads);

}  // namespace gradus::lab
