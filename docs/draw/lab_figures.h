#pragma once
// The figures of docs/lab.md and of the beginning of README.md that are in no report: a trap, and a lab that
// was run for them.

#include <string>

#include "gradus/kit/chart/chart.h"
#include "lab/studies/compare/analysis/analysis.h"
#include "lab/study/records.h"

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

/// docs/data/studies/compare: ./run lab without options, except for the step-by-step curves and details of
/// the machine.
lab::StudyFolder read_lab();
lab::compare::Analysis analyse_lab();

/// Describes the picture: the sentence under it, and its alternative text.
std::string lab_sentence(const lab::compare::Analysis& analysis);
std::string lab_alternative(const lab::compare::Analysis& analysis);

}  // namespace gradus::docs
