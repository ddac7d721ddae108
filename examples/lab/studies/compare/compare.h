#pragma once
// The study that ./run lab runs without a name: two placements at initialisation, in training and in
// ablations. Its grid is the plan, its questions to the seeds are the figures, its verdict the conclusion.

#include "lab/studies/compare/analysis/results.h"
#include "lab/study/study.h"

namespace gradus::lab::compare {

/// The settings of --quick (about a minute on two fast cores), of no budget (ten) and of --full.
Settings default_settings(const StudyOptions& options);

/// The form in study.json; the first seed and the text are stored by the study. Throws, naming the setting,
/// if no plan can have it.
Json json_of(const Settings& settings);
/// The settings of study.json, or the default ones.
Settings settings_of(const StudyOptions& options);

/// The results so far; nothing before the run "task" has finished.
std::optional<Results> results_of(const StudyResults& results);

}  // namespace gradus::lab::compare
