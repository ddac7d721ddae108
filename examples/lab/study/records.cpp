#include "lab/study/records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"
#include "gradus/core/version.h"
#include "gradus/kit/data/system_info.h"
#include "gradus/ops/backend.h"
#include "lab/statistics/words.h"
#include "lab/study/json_files.h"
#include "lab/study/limits.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

/// Six digits of it.
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

std::string listed_runs(const std::set<std::string>& runs) {
  std::string words;
  for (const std::string& run : runs) words += (words.empty() ? "" : ", ") + run;
  return words;
}

}  // namespace

Facts machine_facts() {
  Facts facts = {{"gradus", version()},
                 {"kernels", name(current_isa())},
                 {"matrix products", name(matmul_backend())},
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
  if (!config.options.settings.is_null()) json["settings"] = config.options.settings;
  for (const auto& [name, value] : config.machine) json["machine"][name] = value;
  write_json(folder / "study.json", json);
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
    json.at("data_sha256").get_to(config.data_sha256);
    config.options.settings = json.value("settings", Json());
    for (const Json& part : json.at("shard"))
      check_input(part.is_number_integer(), "shard expects two whole numbers");
    json.at("shard").at(0).get_to(config.shard.index);
    json.at("shard").at(1).get_to(config.shard.count);
    check_input(config.shard.index >= 1 && config.shard.index <= config.shard.count &&
                    config.shard.count <= kMaxShards,
                "shard expects I of N, got {} of {}", config.shard.index, config.shard.count);
    for (const auto& [name, value] : json.at("machine").items())
      config.machine.emplace_back(name, value.get<std::string>());
    return config;
  } catch (const Json::exception& error) {
    not_as_written(path, error);
  } catch (const Error& error) {
    not_as_written(path, error);
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
  for (const auto& [name, value] : record.measured.numbers) line.add(name, value);
  for (const auto& [name, text] : record.measured.texts) line.add(name, text);
  for (auto [name, values] : record.measured.series) {
    for (double& value : values) value = kept(value);
    line.add(name, std::move(values));
  }
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
      check_input(records.emplace(name, record_of(line)).second, "run {} stands there twice",
                  io::quote(name));
      if (!planned.contains(name)) unknown.insert(name);
    } catch (const Error& error) {
      fail_input_with("{}: line {} is not as the lab writes it ({})", io::printable(path.string()),
                      line.number(), io::printable(error.what()));
    }
  }
  check_input(unknown.empty(),
              "{}: the study has no such runs: {}; they are of another version: start a new folder",
              io::printable(path.string()), io::printable(listed_runs(unknown)));
  return records;
}

StudyFolder read_folder(const Path& folder,
                        const std::function<const Study&(const std::string& name)>& study_named) {
  StudyConfig config = read_study(folder);
  const Study& study = study_named(config.study);
  std::vector<StudyRun> plan;
  try {
    plan = study.plan(config.options);
  } catch (const Json::exception& error) {
    not_as_written(folder / "study.json", error);
  } catch (const Error& error) {
    not_as_written(folder / "study.json", error);
  }
  StudyResults results{config.options, read_records(folder, plan), plan.size()};
  return {&study, folder, std::move(config), std::move(results)};
}

}  // namespace gradus::lab
