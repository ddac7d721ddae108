#pragma once
// The folders that a command works in: new ones, or those of --resume. Errors are reported before anything is
// written.

#include <filesystem>
#include <vector>

#include "lab/study/records.h"

namespace gradus::lab {

/// What a command line asks for.
struct Request {
  StudyOptions options;
  std::filesystem::path out, resume;
  Shard shard;
  bool extend = false;  // with resume: also on another kind of machine or with other bands
};

/// The folder of the studies: for a study's own folder its parent, so either may be named.
std::filesystem::path folder_of_studies(const std::filesystem::path& named);

/// The folder of the studies, in which each has one of its name with study.json. Throws, writing nothing, if
/// it has pages that are not of studies; if --out holds such a study with runs, or an older lab; if --resume
/// holds no study, was begun by another version or on another kind of machine and is not to be extended, or
/// its data have changed; if data are missing.
std::filesystem::path open_studies(const std::vector<const Study*>& wanted, const Request& request);

}  // namespace gradus::lab
