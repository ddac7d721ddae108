#include "lab/program/open_study.h"

#include <fmt/format.h>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "lab/program/study_page.h"
#include "lab/study/sha256.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

/// The hash of the files that a study reads from --data, one after the other; empty if it needs none.
std::string data_sha256(const Study& study, const Path& data) {
  if (!study.files || data.empty()) return "";
  std::string bytes;
  for (const Path& file : study.files(data)) bytes += kit::read_file(file, "--data");
  return sha256(bytes);
}

bool has_runs(const Path& folder) {
  const Path runs = folder / "runs.jsonl";
  return std::filesystem::exists(runs) && std::filesystem::file_size(runs) > 0;
}

std::size_t count_runs(const Path& folder) {
  return has_runs(folder) ? kit::read_run_log(folder / "runs.jsonl").size() : 0;
}

/// A hint where the study's folder has another name, or where an older lab wrote the folder.
std::string hint_where_missing(const Path& folder, const Study& study) {
  for (const Path& one : study_folders(folder))
    if (read_study(one).study == study.name)
      return fmt::format("; {} holds it, but must have its name: rename it to {}",
                         io::printable(one.string()), study.name);
  return std::filesystem::exists(folder / "config.json") ? "; a lab of an older version wrote its config.json"
                                                         : "";
}

StudyConfig new_config(const Study& study, const Request& request) {
  const Path folder = request.out / study.name;
  check_input(!is_study(folder) || !has_runs(folder),
              "{} holds a study already: go on with --resume {}, or choose another folder",
              io::printable(folder.string()), io::printable(request.out.string()));
  check_input(!study.needs_data || !request.options.data.empty(), "the study {} needs --data, {}", study.name,
              study.data);
  if (!is_study(folder)) kit::expect_nothing_else("--out", folder);
  return {study.name,
          request.options,
          request.shard,
          machine_facts(),
          data_sha256(study, request.options.data),
          bands_sha256(claims(), study.name)};
}

StudyConfig resumed_config(const Study& study, const Request& request, const Path& folder) {
  StudyConfig config = read_study(folder);
  if (!request.options.data.empty()) config.options.data = request.options.data;
  check_input(config.options.data.empty() || std::filesystem::exists(config.options.data),
              "{} is gone: name its new place with {}", io::printable(config.options.data.string()),
              study.needs_data ? "--data" : "--text");
  check_input(config.data_sha256 == data_sha256(study, config.options.data),
              "{} has changed since this study began", io::printable(config.options.data.string()));
  const Facts here = machine_facts();
  const std::string begun_with = other_machine(config.current_machine(), here);
  check_input(
      begun_with.empty() || request.extend,
      "{} was begun with {}, here it is {}: go on there, or start a new one; if the missing runs have "
      "seeds of their own, --extend adds them here",
      io::printable(folder.string()), begun_with, other_machine(here, config.current_machine()));
  if (request.extend && (!begun_with.empty() || !has_recorded_bands(config)))
    config.extensions.push_back({count_runs(folder), here, bands_sha256(claims(), study.name)});
  return config;
}

}  // namespace

Path folder_of_studies(const Path& named) {
  return is_study(named) ? std::filesystem::canonical(named).parent_path() : named;
}

Path open_studies(const std::vector<const Study*>& wanted, const Request& request) {
  const bool resume = !request.resume.empty();
  const Path folder = resume ? folder_of_studies(request.resume) : request.out;
  check_pages(folder);
  check_input(resume || !std::filesystem::exists(folder / "config.json"),
              "--out: {} has a config.json, which a lab of an older version wrote: choose another folder",
              io::printable(folder.string()));
  std::vector<StudyConfig> configs;
  for (const Study* study : wanted) {
    if (resume && !is_study(folder / study->name))
      fail_input_with("--resume: {} holds no study {} to go on with{}", io::printable(folder.string()),
                      study->name, hint_where_missing(folder, *study));
    Request own = request;
    if (wanted.size() > 1 && !study->needs_data) own.options.data.clear();  // only for studies that need it
    configs.push_back(resume ? resumed_config(*study, own, folder / study->name) : new_config(*study, own));
  }
  studies_in(folder);  // other studies in the folder must fail now, not after the runs
  for (StudyConfig& config : configs) {
    if (Path& data = config.options.data; !data.empty()) data = std::filesystem::absolute(data);
    const Path own = folder / config.study;
    kit::make_folder(own);
    for (const char* file : {"study.json", "runs.jsonl", "report.html"})
      kit::try_output(resume ? "--resume" : "--out", own / file, 1 << 16);
    write_study(own, config);
  }
  return folder;
}

}  // namespace gradus::lab
