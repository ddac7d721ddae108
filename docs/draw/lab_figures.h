#pragma once
// The figures of docs/lab.md and of the opening of README.md that no report has: a trap, and a lab that was
// run for them.

#include <filesystem>
#include <string>

#include "gradus/kit/chart/chart.h"
#include "lab/studies/compare/analysis/analysis.h"

namespace gradus::docs {

/// |dL/dW2| of the last of L Post-LN blocks in the setting of Xiong et al., for three losses: at one
/// position, the mean over all positions, the mean with the same target at all of them.
struct TrapRow {
  std::int64_t layers = 0;
  struct Value {
    double mean = 0, error = 0;  // over seeds; the standard error of that mean
  } one_position, all_positions, one_target;
};
constexpr int kTrapSeeds = 500;
std::vector<TrapRow> measure_trap();
kit::LineChart trap_chart(const std::vector<TrapRow>& rows);

/// docs/data/lab: the folder of a lab that was run as ./run lab does without options, but for the lines
/// of single steps and what tells machines apart.
lab::Results read_lab();
/// Makes such a folder from that of a finished lab.
void record_lab(const std::filesystem::path& from, const std::filesystem::path& to);

/// What the picture shows, in words: the sentence under it, and what stands in its place for who cannot see
/// it.
std::string lab_sentence(const lab::Analysis& analysis);
std::string lab_alternative(const lab::Analysis& analysis);

}  // namespace gradus::docs
