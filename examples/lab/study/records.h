#pragma once
// The files of a study's folder; page and ledger are drawn from them alone.
//
//   study.json   which study, budget, seeds, settings, part, versions and machine; written when it starts or is
//                extended
//   runs.jsonl   one line per finished run: "run", "seconds", its numbers, texts and series

#include <filesystem>
#include <optional>
#include <string>

#include "gradus/kit/data/run_log.h"
#include "lab/study/study.h"

namespace gradus::lab {

/// Part `index` of `count`, from 1: of a study that several machines share.
struct Shard {
  std::int64_t index = 1, count = 1;
  bool operator==(const Shard&) const = default;
};

inline constexpr std::int64_t kMaxShards = 100'000;

using Facts = std::vector<std::pair<std::string, std::string>>;  // names and values
/// Versions, instruction sets, the machine and the date.
Facts machine_facts();

/// Runs added to a study on another kind of machine or with other bands than those it began with.
struct Extension {
  std::size_t after = 0;  // lines of runs.jsonl
  Facts machine;
  std::string bands_sha256;
};

struct StudyConfig {
  std::string study;
  StudyOptions options;
  Shard shard;
  Facts machine;
  std::string data_sha256 = {};  // of the files read of --data
  std::string bands_sha256 =
      {};  // of the bands and predictions of its claims when it began; empty: not recorded
  std::vector<Extension> extensions = {};
  /// Of the runs to come.
  const Facts& current_machine() const { return extensions.empty() ? machine : extensions.back().machine; }
  const std::string& current_bands() const {
    return extensions.empty() ? bands_sha256 : extensions.back().bands_sha256;
  }
};

/// How a fingerprint of bands is computed: version 1 is that of the measures, bands and predictions; version
/// 2, which all studies begin with now, also that of the claims they belong to, each with whether it needs
/// all its parts and whether it is disputed. Version 1 has no prefix, version 2 has "2:".
inline constexpr int kBandsVersion = 2;
/// The fingerprint of a study's claims, whatever their numbers.
std::string bands_sha256(const std::vector<Claim>& ledger, const std::string& study,
                         int version = kBandsVersion);
/// Whether the bands of the ledger have the fingerprint that a study recorded last, in the version in which it
/// recorded it. False where it recorded none.
bool has_recorded_bands(const StudyConfig& config);

void write_study(const std::filesystem::path& folder, const StudyConfig& config);
/// Throws, naming the file, if it is missing or not a study's.
StudyConfig read_study(const std::filesystem::path& folder);
bool is_study(const std::filesystem::path& folder);
/// "arithmetic 0f3c and kernels avx2": the facts in `machine` that all runs of a study must share and `other`
/// does not; empty if it has them all. If one of them has no arithmetic, the version counts instead.
std::string other_machine(const Facts& machine, const Facts& other);

kit::LogLine line_of(const std::string& run, const Record& record);

/// The finished runs of a folder, in no order. Throws if a line is not in the form of line_of(), or if a run
/// occurs twice or is not in the plan, as in another version's folder.
std::map<std::string, Record> read_records(const std::filesystem::path& folder,
                                           const std::vector<StudyRun>& plan);
/// The same with the runs that follow from the plan's.
std::map<std::string, Record> read_records(const std::filesystem::path& folder, const Study& study,
                                           const StudyOptions& options);

/// A study's folder, with all that was measured.
struct StudyFolder {
  const Study* study = nullptr;
  std::filesystem::path path;
  StudyConfig config;
  StudyResults results;
};
/// `study_named` finds a study by its name, and throws where there is none.
StudyFolder read_folder(const std::filesystem::path& folder,
                        const std::function<const Study&(const std::string& name)>& study_named);

}  // namespace gradus::lab
