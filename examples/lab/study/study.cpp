#include "lab/study/study.h"

#include <fmt/format.h>

#include <limits>

#include "gradus/core/io/files.h"
#include "gradus/kit/program/detail/check.h"

namespace gradus::lab {

std::string name_of(Budget budget) {
  return budget == Budget::quick ? "quick" : budget == Budget::full ? "full" : "standard";
}

double StudyResults::number(const std::string& run, const std::string& name) const {
  const auto record = records.find(run);
  if (record == records.end()) return std::numeric_limits<double>::quiet_NaN();
  const auto value = record->second.measured.numbers.find(name);
  kit::check(value != record->second.measured.numbers.end(), "run {} has no number {}", io::quote(run),
             io::quote(name));
  return value->second;
}

std::vector<double> StudyResults::series(const std::string& run, const std::string& name) const {
  const auto record = records.find(run);
  if (record == records.end()) return {};
  const auto values = record->second.measured.series.find(name);
  kit::check(values != record->second.measured.series.end(), "run {} has no series {}", io::quote(run),
             io::quote(name));
  return values->second;
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
