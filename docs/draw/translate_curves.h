#pragma once
// The curves of docs/translate.md: BLEU over minutes, from the logs in docs/data/translate.

#include <filesystem>
#include <optional>

#include "gradus/kit/chart/chart.h"

namespace gradus::docs {

/// The mean of a placement's seeds with the lowest and the highest, from files FOLDER/PLACEMENT-SEED.jsonl: a
/// run's losses.jsonl, or only its lines with "bleu". Seeds that were trained longer continue as a separate
/// line. Empty if the folder has no such files.
std::optional<kit::LineChart> translation_curves(const std::filesystem::path& folder);

}  // namespace gradus::docs
