#pragma once
// Runs a study: several runs at a time, each on a thread of its own, a line a finished run; what is done is
// kept when it is stopped.

#include <filesystem>

#include "lab/study/records.h"

namespace gradus::lab {

/// How long the runs that `folder` does not hold yet take, about: seconds on a fast machine.
double seconds_left(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
                    std::int64_t threads);

/// Measures what `folder` does not hold yet. A run that was cut off starts again; its bits do not depend on
/// what runs beside it. False when kit::interrupted() came before all were done. Throws what a run throws,
/// with its name.
bool run_study(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
               std::int64_t threads);

}  // namespace gradus::lab
