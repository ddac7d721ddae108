#pragma once
// The questions of a chapter, examples/course/NN_name/questions.json: predictions, which are numbers, and
// choices.

#include <iosfwd>
#include <string>
#include <vector>

#include "learn/program/progress.h"

namespace gradus::learn {

struct Prediction {
  std::string ask, unit, printed, note;
  double answer = 0, low = 0, high = 0;
  bool met_by(double said) const { return low <= said && said <= high; }
};
struct Option {
  std::string text, why;
  bool right = false;
};
struct Choice {
  std::string ask;
  std::vector<Option> options;
};
struct Questions {
  std::vector<Prediction> predictions;
  std::vector<Choice> choices;
};

/// Throws an Error that names the file if it is invalid; without a file there are none.
Questions questions_of(const std::filesystem::path& folder);
/// The problems of a chapter's questions; `output`: the output of its program.
std::vector<std::string> problems_of(const Questions& questions, const std::string& output);

/// Asks the questions that were not asked yet, in the language of `words`; an empty line skips one. Each
/// answer is saved before its solution is shown. Stops at the end of the input.
void ask(const Questions& questions, Progress& progress, std::istream& in, std::ostream& out,
         const Catalogue& words = {});

/// How well a learner's confidence matches the results.
struct Calibration {
  int asked = 0, met = 0;
  double sure = 0;   // on average, 0 to 1
  double brier = 0;  // the mean of (sure - met)^2
  /// "Predictions: 2 of 3 in the band; ..."
  std::string words(const Catalogue& catalogue = {}) const;
};
void add(Calibration& calibration, const Questions& questions, const Progress& progress);

}  // namespace gradus::learn
