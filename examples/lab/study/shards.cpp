#include "lab/study/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

const std::string& group_of(const StudyRun& run) { return run.group.empty() ? run.name : run.group; }

/// The part of each group of runs, from 1; a run without a group is one.
std::map<std::string, std::int64_t> parts(const std::vector<StudyRun>& plan, std::int64_t count) {
  std::vector<std::pair<std::string, double>> groups;
  std::map<std::string, std::size_t> places;
  for (const StudyRun& run : plan) {
    const auto [place, is_new] = places.emplace(group_of(run), groups.size());
    if (is_new) groups.emplace_back(group_of(run), 0.0);
    groups[place->second].second += run.seconds;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<double> load(static_cast<std::size_t>(count));
  std::map<std::string, std::int64_t> part;
  for (const auto& [group, seconds] : groups) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += seconds;
    part[group] = least - load.begin() + 1;
  }
  return part;
}

void check_same(const StudyConfig& first, const Path& first_folder, const StudyConfig& other,
                const Path& folder) {
  const auto same = [&](const char* what, const auto& a, const auto& b) {
    check_input(a == b, "merge: {} has {} {}, {} has {}", io::printable(first_folder.string()), what, a,
                io::printable(folder.string()), b);
  };
  same("the study", first.study, other.study);
  same("the budget", name_of(first.options.budget), name_of(other.options.budget));
  same("the first seed", first.options.seed, other.options.seed);
  same("the settings", first.options.settings.dump(), other.options.settings.dump());
  if (!has_recorded_bands(first) || !has_recorded_bands(other))  // equal ones may differ in their version
    same("bands with the fingerprint", first.bands_sha256, other.bands_sha256);
  same("data with the fingerprint", first.data_sha256, other.data_sha256);
  same("machines with", other_machine(first.machine, other.machine),
       other_machine(other.machine, first.machine));
}

}  // namespace

std::vector<StudyRun> part_of(const std::vector<StudyRun>& plan, const Shard& shard,
                              const std::vector<StudyRun>& runs) {
  const std::map<std::string, std::int64_t> part = parts(plan, shard.count);
  std::vector<StudyRun> own;
  for (const StudyRun& run : runs)
    if (part.at(group_of(run)) == shard.index) own.push_back(run);
  return own;
}

std::vector<StudyRun> part_of(const std::vector<StudyRun>& plan, const Shard& shard) {
  return part_of(plan, shard, plan);
}

void merge(const Study& study, const std::vector<Path>& folders, const Path& out) {
  StudyConfig config = read_study(folders.front());
  std::map<std::string, Record> all;
  std::map<std::string, Path> from;
  std::int64_t parts_of = 1;
  for (const Path& folder : folders) {
    const StudyConfig other = read_study(folder);
    check_input(other.extensions.empty(), "merge: {} has been extended; merge before extending",
                io::printable(folder.string()));
    check_same(config, folders.front(), other, folder);
    parts_of = std::max(parts_of, other.shard.count);
    for (const auto& [name, record] : read_records(folder, study, config.options)) {
      const auto [before, is_new] = from.emplace(name, folder);
      check_input(is_new, "merge: run {} is in {} and in {}", name, io::printable(before->second.string()),
                  io::printable(folder.string()));
      all[name] = record;
    }
  }
  const std::vector<StudyRun> plan = planned(study, config.options, all).runs;
  const std::map<std::string, std::int64_t> part = parts(study.plan(config.options), parts_of);
  std::set<std::int64_t> open;
  std::size_t missing = 0;
  for (const StudyRun& run : plan)
    if (!all.contains(run.name)) ++missing, open.insert(part.at(group_of(run)));
  if (missing > 0) {
    std::string words;
    for (const std::int64_t one : open)
      words += (words.empty() ? "" : ", ") + fmt::format("{}/{}", one, parts_of);
    fail_input_with("merge: {} of {} runs {} missing, of --shard {}; go on there with --resume", missing,
                    plan.size(), missing == 1 ? "is" : "are", words);
  }
  std::string lines;
  for (const StudyRun& run : plan) lines += line_of(run.name, all[run.name]).json() + "\n";
  config.shard = {};
  kit::make_folder(out);
  kit::replace_file(out / "runs.jsonl", lines);
  write_study(out, config);
}

}  // namespace gradus::lab
