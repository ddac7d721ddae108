#include "lab/study/study.h"

#include <algorithm>
#include <limits>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"

namespace gradus::lab {

std::string name_of(Budget budget) {
  return budget == Budget::quick ? "quick" : budget == Budget::full ? "full" : "standard";
}

namespace {

/// A finished run's value of that name; `missing` if it has not finished.
template <class T>
T value_in(const StudyResults& results, std::map<std::string, T> Measured::*values, const char* kind,
           const std::string& run, const std::string& name, const T& missing) {
  const auto record = results.records.find(run);
  if (record == results.records.end()) return missing;
  const Measured& measured = record->second.measured;
  const auto value = (measured.*values).find(name);
  if (value != (measured.*values).end()) return value->second;
  const std::string& source = record->second.source;
  const std::string where = source.empty() ? "" : source + ": ";
  check_input(!measured.texts.contains(name),
              "{}run {} has a text where a {} {} is expected: it is of an older version of the lab", where,
              io::quote(run), kind, io::quote(name));
  fail_input_with("{}run {} has no {} {}", where, io::quote(run), kind, io::quote(name));
}

}  // namespace

double StudyResults::number(const std::string& run, const std::string& name) const {
  return value_in(*this, &Measured::numbers, "number", run, name, std::numeric_limits<double>::quiet_NaN());
}

std::vector<double> StudyResults::series(const std::string& run, const std::string& name) const {
  return value_in(*this, &Measured::series, "series", run, name, {});
}

std::string StudyResults::text(const std::string& run, const std::string& name) const {
  return value_in(*this, &Measured::texts, "text", run, name, {});
}

void Following::add(std::vector<StudyRun> so_far, double expected_seconds) {
  for (StudyRun& run : so_far) {
    expected_seconds -= run.seconds;
    runs.push_back(std::move(run));
  }
  seconds_later += std::max(0.0, expected_seconds);
}

Following planned(const Study& study, const StudyOptions& options,
                  const std::map<std::string, Record>& records) {
  Following all{study.plan(options), 0};
  if (!study.next) return all;
  std::set<std::string> names;
  for (const StudyRun& run : all.runs) names.insert(run.name);
  StudyResults known{options, {}, 0};
  for (std::size_t seen = 0; true;) {
    for (; seen < all.runs.size(); ++seen)
      if (const auto record = records.find(all.runs[seen].name); record != records.end())
        known.records.insert(*record);
    Following following = study.next(known);
    all.seconds_later = following.seconds_later;
    for (StudyRun& run : following.runs)
      if (names.insert(run.name).second) all.runs.push_back(std::move(run));
    if (seen == all.runs.size()) return all;
  }
}

std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::int64_t count) {
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < count; ++i) seeds.push_back(first + static_cast<std::uint64_t>(i));
  return seeds;
}

std::vector<double> thinned(const std::vector<double>& values, std::size_t count) {
  if (values.size() <= count || count < 2) return values;
  std::vector<double> kept;
  for (std::size_t i = 0; i < count; ++i) kept.push_back(values[i * (values.size() - 1) / (count - 1)]);
  return kept;
}

}  // namespace gradus::lab
