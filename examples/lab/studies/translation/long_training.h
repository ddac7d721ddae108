#pragma once
// Longer training, until both placements may translate equally well with warm-up: only then does it compare
// what leaving it out does to each. Rates are searched on other seeds than those that judge.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/shared.h"
#include "lab/studies/translation/translator.h"
#include "lab/study/halving.h"

namespace gradus::lab::translation {

struct LongGrid {
  Halving halving;  // of each placement, without warm-up and with it; -BLEU is its loss
  std::vector<std::uint64_t> judging;
  std::int64_t warmup = 0;
  TrainOptions training = {};  // without placement, rate, warm-up and seed
  Selection selection = {};
  double seconds = 0;  // of a run
};
LongGrid long_grid_of(const StudyOptions& options);

/// "long-pre-w1000-lr0.001-s3280"
std::string long_name(const std::string& placement, std::int64_t warmup, double rate, std::uint64_t seed);

/// The searches of a placement and their results, as far as runs have finished.
class LongTraining {
 public:
  LongTraining(const StudyResults& results, const LongGrid& grid, const std::string& placement);

  const Searched& searched(bool warm) const { return warm ? warm_ : cold_; }
  /// The best rate of the search; none before it has ended.
  std::optional<double> rate(bool warm) const;
  /// BLEU of the judging seeds without warm-up or with it, at a rate; NaN where a run has not finished.
  std::vector<double> bleu(bool warm, double rate) const;
  /// The same at the best rates: with warm-up, without it, and without it at the rate that is best with it.
  std::vector<double> with() const, without() const, without_at_same() const;

 private:
  std::vector<double> bleu_at(bool warm, std::optional<double> rate) const;

  const StudyResults& results_;
  const LongGrid& grid_;
  std::string placement_;
  Searched cold_, warm_;
};

using Corpus = std::shared_ptr<Shared<Sentences>>;
/// One for each folder and selection: runs that follow from others do not read the files again.
Corpus corpus_of(const std::filesystem::path& folder, const Selection& selection);

/// All runs that the results so far ask for; without results those of the first round of the searches.
Following long_runs(const StudyResults& results);
void add_long_figures(Figures& figures, const StudyResults& results);
void report_long(Page& page, const StudyResults& results);

}  // namespace gradus::lab::translation
