#include "lab/study/records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/core/version.h"
#include "gradus/kit/data/system_info.h"
#include "gradus/ops/backend.h"
#include "lab/statistics/format.h"
#include "lab/study/arithmetic.h"
#include "lab/study/json_files.h"
#include "lab/study/limits.h"
#include "lab/study/sha256.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

/// Rounds to six digits.
double kept(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

Record record_of(const kit::LogLine& line) {
  Record record;
  record.seconds = line["seconds"].number();
  for (const auto& [name, value] : line) {
    if (name == "run" || name == "seconds") continue;
    if (value.is_list())
      record.measured.series[name] = value.list();
    else if (value.is_text())
      record.measured.texts[name] = value.text();
    else
      record.measured.numbers[name] = value.number();
  }
  return record;
}

[[noreturn]] void not_as_written(const Path& path, const std::exception& error) {
  fail_input_with("{}: not as the lab writes it ({})", io::printable(path.string()),
                  io::printable(error.what()));
}

Budget budget_named(const std::string& name) {
  for (const Budget budget : {Budget::quick, Budget::standard, Budget::full})
    if (name_of(budget) == name) return budget;
  fail_input_with("budget expects quick, standard or full, got {}", io::quote(name));
}

Json json_of(const Facts& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts) json[name] = value;
  return json;
}

Facts facts_of(const Json& json) {
  Facts facts;
  for (const auto& [name, value] : json.items()) facts.emplace_back(name, value.get<std::string>());
  return facts;
}

/// The first three, and how many more there are.
std::string listed_runs(const std::set<std::string>& runs) {
  constexpr std::size_t kShown = 3;
  std::string words;
  for (auto run = runs.begin(); run != std::next(runs.begin(), std::min(kShown, runs.size())); ++run)
    words += (words.empty() ? "" : ", ") + *run;
  return words + (runs.size() > kShown ? fmt::format(" and {} more", runs.size() - kShown) : "");
}

}  // namespace

Facts machine_facts() {
  Facts facts = {{"gradus", version()},
                 {"arithmetic", arithmetic()},
                 {"kernels", name(current_isa())},
                 {"matrix products", name(matmul_backend())},
                 {"products in bf16", name(bf16_backend_in_use())},
                 {"OpenBLAS core", openblas_core()}};
  for (const auto& fact : kit::system_info()) facts.push_back(fact);
  return facts;
}

void write_study(const Path& folder, const StudyConfig& config) {
  Json json = {{"study", config.study},
               {"budget", name_of(config.options.budget)},
               {"seed", config.options.seed},
               {"data", config.options.data.string()},
               {"data_sha256", config.data_sha256},
               {"shard", {config.shard.index, config.shard.count}}};
  if (!config.bands_sha256.empty()) json["bands_sha256"] = config.bands_sha256;
  if (!config.options.settings.is_null()) json["settings"] = config.options.settings;
  json["machine"] = json_of(config.machine);
  for (const Extension& extension : config.extensions)
    json["extensions"].push_back({{"after", extension.after},
                                  {"bands_sha256", extension.bands_sha256},
                                  {"machine", json_of(extension.machine)}});
  write_json(folder / "study.json", json);
}

std::string bands_sha256(const std::vector<Claim>& ledger, const std::string& study, int version) {
  std::vector<std::vector<std::string>> parts;  // the lines of a claim, or in version 1 single lines
  for (const Claim& claim : ledger) {
    if (claim.study != study) continue;
    std::vector<std::string> lines;
    for (const Measure& measure : claim.measures)
      lines.push_back(fmt::format("{} {} {} {} {}\n", measure.id, static_cast<int>(measure.estimate),
                                  measure.low, measure.high,
                                  measure.prediction ? judgement_label(*measure.prediction) : ""));
    std::sort(lines.begin(), lines.end());
    if (version == 1) {
      for (const std::string& line : lines) parts.push_back({line});
      continue;
    }
    lines.insert(lines.begin(), fmt::format("claim {} {}\n", claim.all_needed, claim.disputed));
    parts.push_back(std::move(lines));
  }
  std::sort(parts.begin(), parts.end());
  Sha256 hash;
  for (const std::vector<std::string>& part : parts)
    for (const std::string& line : part) hash.update(line);
  return (version == 1 ? "" : fmt::format("{}:", version)) + hash.hex();
}

bool has_recorded_bands(const StudyConfig& config) {
  const std::string& recorded = config.current_bands();
  const int version = recorded.find(':') == std::string::npos ? 1 : kBandsVersion;
  return recorded == bands_sha256(claims(), config.study, version);
}

bool is_study(const Path& folder) { return io::exists("lab", (folder / "study.json").string()); }

StudyConfig read_study(const Path& folder) {
  const Path path = folder / "study.json";
  check_input(
      is_study(folder), "{} {}", io::printable(folder.string()),
      io::exists("lab", (folder / "config.json").string())
          ? "has a config.json and no study.json: a lab of an older version wrote it, and that version "
            "draws it and goes on with it"
          : "is not the folder of a study: it has no study.json");
  const Json json = read_json(path);
  try {
    StudyConfig config;
    json.at("study").get_to(config.study);
    config.options.budget = budget_named(json.at("budget").get<std::string>());
    check_input(json.at("seed").is_number_unsigned(), "seed expects a whole number of at least 0");
    json.at("seed").get_to(config.options.seed);
    config.options.data = json.at("data").get<std::string>();
    config.bands_sha256 = json.value("bands_sha256", "");
    json.at("data_sha256").get_to(config.data_sha256);
    config.options.settings = json.value("settings", Json());
    check_input(json.at("shard").size() == 2, "shard expects two whole numbers");
    for (const Json& part : json.at("shard"))
      check_input(part.is_number_integer(), "shard expects two whole numbers");
    json.at("shard").at(0).get_to(config.shard.index);
    json.at("shard").at(1).get_to(config.shard.count);
    check_input(config.shard.index >= 1 && config.shard.index <= config.shard.count &&
                    config.shard.count <= kMaxShards,
                "shard expects I of N, got {} of {}", config.shard.index, config.shard.count);
    config.machine = facts_of(json.at("machine"));
    for (const Json& one : json.value("extensions", Json::array())) {
      check_input(one.at("after").is_number_unsigned(), "after expects a whole number of at least 0");
      config.extensions.push_back({one.at("after").get<std::size_t>(), facts_of(one.at("machine")),
                                   one.at("bands_sha256").get<std::string>()});
    }
    return config;
  } catch (const Json::exception& error) {
    not_as_written(path, error);
  } catch (const Error& error) {
    not_as_written(path, error);
  }
}

std::string other_machine(const Facts& machine, const Facts& other) {
  const auto has_arithmetic = [](const Facts& facts) {
    return std::any_of(facts.begin(), facts.end(),
                       [](const auto& fact) { return fact.first == "arithmetic"; });
  };
  const char* const version = has_arithmetic(machine) && has_arithmetic(other) ? "arithmetic" : "gradus";
  std::vector<std::string> words;
  for (const char* name : {version, "kernels", "matrix products", "products in bf16", "OpenBLAS core"})
    for (const auto& [key, a] : machine)
      for (const auto& [other_key, b] : other)
        if (key == name && other_key == name && a != b) words.push_back(fmt::format("{} {}", name, a));
  return listed(words);
}

kit::LogLine line_of(const std::string& run, const Record& record) {
  kit::LogLine line = {{"run", run}, {"seconds", kept(record.seconds)}};
  for (const auto& [name, value] : record.measured.numbers) line.add(name, value);
  for (const auto& [name, text] : record.measured.texts) line.add(name, text);
  for (auto [name, values] : record.measured.series) {
    for (double& value : values) value = kept(value);
    line.add(name, std::move(values));
  }
  return line;
}

namespace {

std::map<std::string, Record> read_all(const Path& path) {
  std::map<std::string, Record> records;
  for (const kit::LogLine& line : kit::read_run_log(path)) {
    try {
      const std::string& name = line["run"].text();
      const auto [place, is_new] = records.emplace(name, record_of(line));
      check_input(is_new, "run {} occurs twice", io::quote(name));
      place->second.source = fmt::format("{}: line {}", io::printable(path.string()), line.number());
    } catch (const Error& error) {
      fail_input_with("{}: line {} is not as the lab writes it ({})", io::printable(path.string()),
                      line.number(), io::printable(error.what()));
    }
  }
  return records;
}

void check_planned(const Path& path, const std::map<std::string, Record>& records,
                   const std::vector<StudyRun>& plan) {
  std::set<std::string> unknown;
  for (const auto& [name, record] : records) unknown.insert(name);
  for (const StudyRun& run : plan) unknown.erase(run.name);
  check_input(
      unknown.empty(),
      "{}: the study has no such runs: {}; they are of another version, study or seed, or of other settings: "
      "start a new folder",
      io::printable(path.string()), io::printable(listed_runs(unknown)));
}

}  // namespace

std::map<std::string, Record> read_records(const Path& folder, const std::vector<StudyRun>& plan) {
  std::map<std::string, Record> records = read_all(folder / "runs.jsonl");
  check_planned(folder / "runs.jsonl", records, plan);
  return records;
}

std::map<std::string, Record> read_records(const Path& folder, const Study& study,
                                           const StudyOptions& options) {
  std::map<std::string, Record> records = read_all(folder / "runs.jsonl");
  check_planned(folder / "runs.jsonl", records, planned(study, options, records).runs);
  return records;
}

StudyFolder read_folder(const Path& folder,
                        const std::function<const Study&(const std::string& name)>& study_named) {
  StudyConfig config = read_study(folder);
  const Study& study = study_named(config.study);
  try {
    study.plan(config.options);
  } catch (const Json::exception& error) {
    not_as_written(folder / "study.json", error);
  } catch (const Error& error) {
    not_as_written(folder / "study.json", error);
  }
  StudyResults results{config.options, read_records(folder, study, config.options), 0};
  results.planned = planned(study, config.options, results.records).runs.size();
  return {&study, folder, std::move(config), std::move(results)};
}

}  // namespace gradus::lab
