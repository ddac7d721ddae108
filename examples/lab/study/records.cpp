#include "lab/study/records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <sstream>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/detail/json_files.h"
#include "gradus/kit/program/detail/check.h"
#include "lab/limits.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

using kit::Json;
using Path = std::filesystem::path;

std::string words_of(const std::vector<double>& values) {
  std::string words;
  for (const double value : values) words += (words.empty() ? "" : " ") + fmt::format("{:.6g}", value);
  return words;
}

/// As it stands in a file: so that nothing is seen in memory that a report drawn from files would not have.
double kept(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

std::vector<double> numbers_in(const std::string& words) {
  std::vector<double> values;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    char* end = nullptr;
    values.push_back(std::strtod(word.c_str(), &end));  // reads nan and inf, too
    kit::check(*end == 0, "{} is no number", io::quote(word));
  }
  return values;
}

Record record_of(const kit::LogLine& line) {
  Record record;
  record.seconds = line["seconds"].number();
  for (const auto& [name, value] : line) {
    if (name == "run" || name == "seconds") continue;
    if (value.is_text())
      record.measured.series[name] = numbers_in(value.text());
    else
      record.measured.numbers[name] = value.number();
  }
  return record;
}

Budget budget_named(const std::string& name) {
  for (const Budget budget : {Budget::quick, Budget::standard, Budget::full})
    if (name_of(budget) == name) return budget;
  kit::fail_input_with("budget expects quick, standard or full, got {}", io::quote(name));
}

std::string listed_runs(const std::set<std::string>& runs) {
  std::string words;
  for (const std::string& run : runs) words += (words.empty() ? "" : ", ") + run;
  return words;
}

}  // namespace

void write_study(const Path& folder, const StudyConfig& config) {
  Json json = {{"study", config.study},
               {"budget", name_of(config.options.budget)},
               {"seed", config.options.seed},
               {"data", config.options.data.string()},
               {"data_sha256", config.data_sha256},
               {"shard", {config.shard.index, config.shard.count}}};
  for (const auto& [name, value] : config.machine) json["machine"][name] = value;
  kit::write_json(folder / "study.json", json);
}

bool is_study(const Path& folder) { return io::exists("lab", (folder / "study.json").string()); }

StudyConfig read_study(const Path& folder) {
  const Path path = folder / "study.json";
  kit::check_input(is_study(folder), "{} is not the folder of a study: it has no study.json",
                   io::printable(folder.string()));
  const Json json = kit::read_json(path);
  try {
    StudyConfig config;
    json.at("study").get_to(config.study);
    config.options.budget = budget_named(json.at("budget").get<std::string>());
    kit::check_input(json.at("seed").is_number_unsigned(), "seed expects a whole number of at least 0");
    json.at("seed").get_to(config.options.seed);
    config.options.data = json.at("data").get<std::string>();
    json.at("data_sha256").get_to(config.data_sha256);
    for (const Json& part : json.at("shard"))
      kit::check_input(part.is_number_integer(), "shard expects two whole numbers");
    json.at("shard").at(0).get_to(config.shard.index);
    json.at("shard").at(1).get_to(config.shard.count);
    kit::check_input(config.shard.index >= 1 && config.shard.index <= config.shard.count &&
                         config.shard.count <= kMaxShards,
                     "shard expects I of N, got {} of {}", config.shard.index, config.shard.count);
    for (const auto& [name, value] : json.at("machine").items())
      config.machine.emplace_back(name, value.get<std::string>());
    return config;
  } catch (const Json::exception& error) {
    kit::fail_input_with("{}: not as the lab writes it ({})", io::printable(path.string()),
                         io::printable(error.what()));
  } catch (const Error& error) {
    kit::fail_input_with("{}: not as the lab writes it ({})", io::printable(path.string()),
                         io::printable(error.what()));
  }
}

std::string other_machine(const Facts& machine, const Facts& other) {
  std::vector<std::string> words;
  for (const char* name : {"gradus", "kernels", "matrix products", "OpenBLAS core"})
    for (const auto& [key, a] : machine)
      for (const auto& [other_key, b] : other)
        if (key == name && other_key == name && a != b) words.push_back(fmt::format("{} {}", name, a));
  return listed(words);
}

kit::LogLine line_of(const std::string& run, const Record& record) {
  kit::LogLine line = {{"run", run}, {"seconds", kept(record.seconds)}};
  for (const auto& [name, value] : record.measured.numbers) line.add(name, kept(value));
  for (const auto& [name, values] : record.measured.series) line.add(name, words_of(values));
  return line;
}

std::map<std::string, Record> read_records(const Path& folder, const std::vector<StudyRun>& plan) {
  std::set<std::string> planned;
  for (const StudyRun& run : plan) planned.insert(run.name);
  const Path path = folder / "runs.jsonl";
  std::map<std::string, Record> records;
  std::set<std::string> unknown;
  for (const kit::LogLine& line : kit::read_run_log(path)) {
    try {
      const std::string& name = line["run"].text();
      kit::check_input(records.emplace(name, record_of(line)).second, "run {} stands there twice",
                       io::quote(name));
      if (!planned.contains(name)) unknown.insert(name);
    } catch (const Error& error) {
      kit::fail_input_with("{}: line {} is not as the lab writes it ({})", io::printable(path.string()),
                           line.number(), io::printable(error.what()));
    }
  }
  kit::check_input(unknown.empty(),
                   "{}: the study has no such runs: {}; they are of another version: start a new folder",
                   io::printable(path.string()), io::printable(listed_runs(unknown)));
  return records;
}

StudyResults read_results(const Path& folder, const Study& study) {
  const StudyConfig config = read_study(folder);
  kit::check_input(config.study == study.name, "{} is of the study {}, not of {}",
                   io::printable(folder.string()), io::quote(config.study), study.name);
  const std::vector<StudyRun> plan = study.plan(config.options);
  return {config.options, read_records(folder, plan), plan.size()};
}

}  // namespace gradus::lab
