#pragma once
// The parts of the study `papers`: published findings, each as the difference of two arms, as a question
// whether one trains, or as a measurement of trained models. Some seeds search, others judge.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/nn/models/gpt.h"
#include "gradus/nn/placements/placements.h"
#include "lab/study/halving.h"
#include "lab/study/study.h"

namespace gradus::lab::papers {

/// One side of a comparison.
struct Arm {
  std::string name;   // in names of runs: "admin-L18"
  std::string title;  // "Admin, 18 layers"
  nn::Placement placement;
  std::int64_t layers = 0;
  std::string weights = "xavier";                    // of training/weights.h, or "fixup"
  nn::MakeNorm norm = nn::make_norm<nn::LayerNorm>;  // of its blocks
  std::vector<std::size_t> warmups = {0, 1};         // of Grid::warmups: the search tries them all
  bool looked_into = false;                          // its trained models are measured, see look_into()
};

/// The settings that a search chooses for an arm.
struct Design {
  std::int64_t warmup = 0;
  double lr = 0;
};

/// The plan in numbers.
struct Grid {
  std::vector<Arm> arms;
  std::int64_t steps = 0;
  std::array<std::int64_t, 2> warmups = {};  // none, and some
  std::vector<double> ladder;                // of rates, rising
  std::size_t first = 0, last = 0;           // indices in the ladder: the rates each search begins with
  std::vector<std::uint64_t> searching, judging;
  std::vector<std::size_t> kept;  // as in Halving
  std::int64_t key_steps = 0;     // of the models whose keys are measured
};
Grid grid_of(const StudyOptions& options);
std::string run_name(const Arm& arm, const Design& design, std::uint64_t seed);

/// An arm's search and its results, as far as runs have finished.
class ArmResults {
 public:
  ArmResults(const StudyResults& results, const Grid& grid, const Arm& arm);

  const Arm& arm() const { return arm_; }
  const Searched& searched() const { return searched_; }
  Design design(const Setting& setting) const;
  std::optional<Design> chosen() const;
  bool at_edge() const { return searched_.at_edge; }
  /// Of the judging seeds, in their order, at the chosen design; NaN where a run has not finished.
  std::vector<double> numbers(const std::string& name) const;
  std::vector<double> losses() const { return numbers("loss"); }
  /// A series of the judging seeds whose runs have finished.
  std::vector<std::vector<double>> curves(const std::string& name) const;

 private:
  std::vector<std::string> judged() const;  // names of runs; none before the search has ended

  const StudyResults& results_;
  const Grid& grid_;
  Arm arm_;
  Searched searched_;
};

/// Results by name of the arm; nothing for an arm that this form of the study does not have.
std::optional<ArmResults> results_of(const StudyResults& results, const Grid& grid, const std::string& arm);

/// Trains the arm once; a run that judges is looked into.
Measured measure(const Arm& arm, const Design& design, std::int64_t steps, std::uint64_t seed, bool judges);

/// The mean of |x|^2 / d after each block.
std::vector<double> sizes_by_block(const nn::GPT& model, const Tensor& ids);
/// Numbers of a trained model: "growth", ln of the size after the last block over that after the first;
/// "bend", that from the middle block to the last over that from the first to the middle (1.1 if exponential,
/// 0.3 if linear, for 18 blocks); "slope", p in l^p; "drop-share", the deeper half's share in the loss that
/// dropping single blocks adds. Series "sizes" and "drop". All NaN for a run that diverged.
void look_into(Measured& measured, const nn::GPT& model, bool diverged);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::papers
