#pragma once
// The parts of the study of layer norm: the measurements of a run, by topic, and the page.

#include "lab/studies/runs.h"

namespace gradus::lab::layer_norm_parts {

inline constexpr int kPlanePoints = 36;

/// The ledger's measures, as names of numbers of a seed's run.
const std::vector<std::string>& ids();
std::vector<std::uint64_t> seeds_of(const StudyOptions& options);
std::string token_run(std::uint64_t seed);
Runs tokens_of(const StudyResults& results);
std::string plane_run(const StudyOptions& options);

/// The sphere, the mean, eps: one random token in f64.
void measure_geometry(Measured& measured, std::uint64_t seed);
/// Batch norm compared with layer norm, and group norm with batch norm.
void measure_batches(Measured& measured, std::uint64_t seed);
/// Three norms for queries, keys and values instead of one.
void measure_thrice(Measured& measured, std::uint64_t seed);
/// Tokens of three channels, drawn: in the plane orthogonal to (1, 1, 1), before and after the norm, with its
/// gain and with its bias; and how much a token is shrunk, by its sigma.
Measured measure_plane(std::uint64_t seed);

void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::layer_norm_parts
