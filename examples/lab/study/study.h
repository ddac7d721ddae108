#pragma once
// A study: one question, answered by many independent runs. It defines the runs (its plan), their
// measurements, its figures for the ledger of claims (one number per seed) and its page. Everything else is
// the same for all studies: running, stopping and going on (runner.h), files (records.h), several machines
// (shards.h), pages (program/study_page.h). A new one is a file in studies/ and a line in
// studies/studies.cpp.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/claims/ledger.h"
#include "lab/study/json_files.h"
#include "lab/study/page.h"

namespace gradus::lab {

/// The amount of work: about 30 seconds, half an hour, or the full measurement, on two cores.
enum class Budget { quick, standard, full };
std::string name_of(Budget budget);
/// What each form has: `per_budget(options.budget, 3, 5, 10)` seeds.
template <class T>
T per_budget(Budget budget, const T& quick, const T& standard, const T& full) {
  return budget == Budget::quick ? quick : budget == Budget::full ? full : standard;
}

/// The first seed of the full form: bands and settings were tried on others, those of the quick forms.
inline constexpr std::uint64_t kFullSeed = 3000;

struct StudyOptions {
  Budget budget = Budget::standard;
  std::uint64_t seed = 0;           // the first; the others follow it
  std::filesystem::path data = {};  // the file or folder of a study that needs one
  Json settings = {};               // of a study that has additional settings; null: those of the budget
};

/// The measurements of a run, by name. Files keep every bit of a number, and six digits of each value of a
/// series.
struct Measured {
  std::map<std::string, double> numbers = {};
  std::map<std::string, std::vector<double>> series = {};
  std::map<std::string, std::string> texts = {};  // such as a fingerprint of the parameters
};

/// A run depends on nothing but its name's settings: any machine may do it, in any order.
struct StudyRun {
  std::string name;    // unique in its study: "post-L12-lr0.01-s3"
  double seconds = 1;  // approximately, on one core: for the time left, and to divide the work
  // Runs of a lower round come first, so a stopped study has some runs of each setting.
  std::uint64_t round = 0;
  std::function<Measured()> measure;
  std::string group = {};  // of a study whose runs decide which follow: those have the same group
};

/// A finished run.
struct Record {
  Measured measured;
  double seconds = 0;       // of its thread's work
  std::string source = {};  // the file and line it was read from, for messages; empty: a new one
};

/// The results so far.
struct StudyResults {
  StudyOptions options;
  std::map<std::string, Record> records;
  std::size_t planned = 0;

  bool complete() const { return records.size() == planned; }
  bool has(const std::string& run) const { return records.contains(run); }
  /// NaN if the run has not finished, or if the number was infinite or NaN; throws if a finished run has no
  /// number of that name, which is a bug in the study.
  double number(const std::string& run, const std::string& name) const;
  /// Empty where the run has not finished.
  std::vector<double> series(const std::string& run, const std::string& name) const;
  std::string text(const std::string& run, const std::string& name) const;
};

/// The conclusion of a study that has more than verdicts on claims.
struct Conclusion {
  std::string title, question;        // of its page, where they depend on settings
  std::string sentence;               // one line, which the program also prints last
  std::vector<std::string> findings;  // the facts behind it
};

/// The runs that follow from others.
struct Following {
  std::vector<StudyRun> runs;
  double seconds_later = 0;  // approximate time of the runs that will follow from these
  /// Adds an arm's runs so far, of about this many seconds in all.
  void add(std::vector<StudyRun> so_far, double expected_seconds);
};

struct Study {
  std::string name;          // its name on the command line: "rates"
  std::string title;         // "Learning rate, warm-up and depth"
  std::string question;      // one sentence
  std::string setting = {};  // of the full form, for the ledger: model, steps, rates, warm-up, what is paired
  std::string scope = {};    // of its verdicts, in a few words: task, width, steps, initial weights
  std::function<std::vector<StudyRun>(const StudyOptions&)> plan;
  /// A seed that is not finished is left out. Differences are made here, seed by seed, since runs of one seed
  /// share their data.
  std::function<Figures(const StudyResults&)> figures;
  /// Charts and tables, each with a sentence on what it shows; a stopped study shows the finished runs.
  std::function<void(Page&, const StudyResults&)> report;
  std::function<Conclusion(const StudyResults&)> conclude = {};
  std::string data = {};  // the meaning of --data: "a text file"; empty: it reads none
  bool needs_data = !data.empty();
  /// The files it reads of what --data names; throws, naming it, if one is missing.
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path& data)> files = {};
  /// All runs that the results so far ask for beyond the plan, such as those of a search that continues where
  /// it is best; not given: none. The runs of a group follow from those of that group alone, so that the
  /// parts of a study need not wait for each other.
  std::function<Following(const StudyResults&)> next = {};
};

/// The plan and the runs that follow from the records; records of other runs are ignored.
Following planned(const Study& study, const StudyOptions& options,
                  const std::map<std::string, Record>& records);

/// first, first + 1, ...: the seeds of a plan, fixed before the first run.
std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::int64_t count);

/// At most `count` of the values, evenly spread, the first and the last among them: a curve for a file.
std::vector<double> thinned(const std::vector<double>& values, std::size_t count);

}  // namespace gradus::lab
