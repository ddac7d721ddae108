#include <algorithm>
#include <functional>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "lab/studies/compare/compare.h"
#include "lab/study/limits.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

/// Values are not converted: 1e30 or true is not a whole number.
std::int64_t integer(const Json& value, const std::string& key, const kit::IntegerRange& range) {
  const bool fits =
      value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  check_input(fits && number >= range.low && number <= range.high,
              "{} expects a whole number from {} to {}, got {}", key, range.low, range.high,
              io::quote(value.dump()));
  return number;
}

/// As the command line writes them: the analysis takes the first for the lowest and the last for the highest.
template <class T>
void check_rising(const std::vector<T>& values, const std::string& key) {
  check_input(std::adjacent_find(values.begin(), values.end(), std::greater_equal<T>()) == values.end(),
              "{} expects each number once, in rising order", key);
}

std::vector<std::int64_t> integers(const Json& json, const std::string& key, const kit::IntegerRange& range) {
  check_input(json.at(key).is_array() && !json.at(key).empty(), "{} expects a list of whole numbers", key);
  std::vector<std::int64_t> values;
  for (const Json& value : json.at(key)) values.push_back(integer(value, key, range));
  check_rising(values, key);
  return values;
}

Placements placements_from(const Json& json) {
  const auto names = json.get<std::vector<std::string>>();
  check_input(names.size() == 2 && names[0] != names[1], "placements expects two names, got {}",
              io::quote(json.dump()));
  return {nn::placement_named(names[0]), nn::placement_named(names[1])};
}

}  // namespace

Settings default_settings(const StudyOptions& options) {
  Settings settings;
  settings.seed = options.seed;
  if (options.budget == Budget::full) settings.seeds = 9;
  if (options.budget != Budget::quick) return settings;
  settings.depths = {2, 8};
  settings.lrs = {3e-3, 1e-2};
  settings.seeds = 3;
  settings.steps = 220;
  return settings;
}

Json json_of(const Settings& settings) {
  return {{"placements", {name_of(settings.placements[0]), name_of(settings.placements[1])}},
          {"depths", settings.depths},
          {"lrs", settings.lrs},
          {"warmups", settings.warmups},
          {"seeds", settings.seeds},
          {"steps", settings.steps}};
}

Settings settings_of(const StudyOptions& options) {
  const Json& json = options.settings;
  if (json.is_null()) return default_settings(options);
  Settings settings;
  settings.placements = placements_from(json.at("placements"));
  settings.depths = integers(json, "depths", kDepths);
  json.at("lrs").get_to(settings.lrs);
  check_input(!settings.lrs.empty(), "lrs expects a list of numbers");
  for (const double lr : settings.lrs) check_input(lr > 0, "lrs expects numbers above 0, got {}", lr);
  check_rising(settings.lrs, "lrs");
  settings.warmups = integers(json, "warmups", kWarmups);
  settings.seeds = integer(json.at("seeds"), "seeds", kSeeds);
  settings.steps = integer(json.at("steps"), "steps", kSteps);
  settings.seed = options.seed;
  check_number_of_runs(settings);
  return settings;
}

}  // namespace gradus::lab::compare
