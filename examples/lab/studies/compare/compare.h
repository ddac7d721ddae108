#pragma once
// The study that ./run lab runs without a name: two placements at initialisation, in training and in
// ablations. Its grid is the plan, its questions to the seeds are the figures, its verdict the conclusion.

#include "lab/studies/compare/analysis/results.h"
#include "lab/study/study.h"

namespace gradus::lab::compare {

/// What --quick (about a minute on two fast cores), no budget (ten) and --full mean.
Settings default_settings(const StudyOptions& options);

/// As study.json keeps them; the first seed and the text are the study's own. Throws, naming it, at a setting
/// that no plan can have.
Json json_of(const Settings& settings);
/// Those of study.json, or the default ones.
Settings settings_of(const StudyOptions& options);

/// What has been measured so far; nothing before the run "task" has finished.
std::optional<Results> results_of(const StudyResults& results);

}  // namespace gradus::lab::compare
