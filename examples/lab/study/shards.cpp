#include "lab/study/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

/// The part of each run of the plan, from 1.
std::vector<std::int64_t> parts(const std::vector<StudyRun>& plan, std::int64_t count) {
  std::vector<std::size_t> order(plan.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return plan[a].seconds > plan[b].seconds; });
  std::vector<double> load(static_cast<std::size_t>(count));
  std::vector<std::int64_t> part(plan.size());
  for (const std::size_t run : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += plan[run].seconds;
    part[run] = least - load.begin() + 1;
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
  same("data with the fingerprint", first.data_sha256, other.data_sha256);
  same("machines with", other_machine(first.machine, other.machine),
       other_machine(other.machine, first.machine));
}

}  // namespace

std::vector<StudyRun> part_of(const std::vector<StudyRun>& plan, const Shard& shard) {
  const std::vector<std::int64_t> part = parts(plan, shard.count);
  std::vector<StudyRun> runs;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (part[i] == shard.index) runs.push_back(plan[i]);
  return runs;
}

void merge(const Study& study, const std::vector<Path>& folders, const Path& out) {
  StudyConfig config = read_study(folders.front());
  const std::vector<StudyRun> plan = study.plan(config.options);
  std::map<std::string, Record> all;
  std::map<std::string, Path> from;
  std::int64_t parts_of = 1;
  for (const Path& folder : folders) {
    const StudyConfig other = read_study(folder);
    check_same(config, folders.front(), other, folder);
    parts_of = std::max(parts_of, other.shard.count);
    for (const auto& [name, record] : read_records(folder, plan)) {
      const auto [before, is_new] = from.emplace(name, folder);
      check_input(is_new, "merge: run {} is in {} and in {}", name, io::printable(before->second.string()),
                  io::printable(folder.string()));
      all[name] = record;
    }
  }
  const std::vector<std::int64_t> part = parts(plan, parts_of);
  std::set<std::int64_t> open;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (!all.contains(plan[i].name)) ++missing, open.insert(part[i]);
  if (missing > 0) {
    std::string words;
    for (const std::int64_t one : open)
      words += (words.empty() ? "" : ", ") + fmt::format("{}/{}", one, parts_of);
    fail_input_with("merge: {} of {} runs are missing, of --shard {}; go on there with --resume", missing,
                    plan.size(), words);
  }
  std::string lines;
  for (const StudyRun& run : plan) lines += line_of(run.name, all[run.name]).json() + "\n";
  config.shard = {};
  kit::make_folder(out);
  kit::replace_file(out / "runs.jsonl", lines);
  write_study(out, config);
}

}  // namespace gradus::lab
