#pragma once
// The questions of a chapter, examples/course/NN_name/questions.json: predictions, which are numbers,
// choices, and the numbers that the exercises of its page ask for.

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
/// A number that an exercise of the chapter's page asks for.
struct HandAnswer {
  int exercise = 0;               // its number on the page
  std::string of, unit;           // of: which of its numbers, if it has several, such as "d = 4"
  double answer = 0, within = 0;  // a right number differs from the answer by at most `within`
  std::string how;                // "8 / 3 = 2.667"
  bool met_by(double said) const;
  /// Its name in a learner's progress.
  std::string key() const;
};
struct Questions {
  std::vector<Prediction> predictions;
  std::vector<Choice> choices;
  std::vector<HandAnswer> answers;
};

/// Throws an Error that names the file if it is invalid; without a file there are none.
Questions questions_of(const std::filesystem::path& folder);
/// The problems of a chapter's questions; `output`: the output of its program.
std::vector<std::string> problems_of(const Questions& questions, const std::string& output);

/// Asks the questions that were not asked yet, in the language of `words`; an empty line skips one. Each
/// answer is saved before its solution is shown. Stops at the end of the input.
void ask(const Questions& questions, Progress& progress, std::istream& in, std::ostream& out,
         const Catalogue& words = {});

/// Asks for the answers to the page's exercises, except those that were right before. An empty line skips
/// one. Each answer is saved before it is judged.
void ask_answers(const Questions& questions, Progress& progress, std::istream& in, std::ostream& out,
                 const Catalogue& words = {});
/// How many of the answers are right.
int right_answers(const Questions& questions, const Progress& progress);

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
