#pragma once
// The command lines of studies.

#include <optional>
#include <string>

#include "gradus/core/threads/parallel.h"
#include "lab/program/open_study.h"

namespace gradus::lab {

struct Given : Request {
  std::int64_t threads = num_threads();
};

/// Prints what is wrong with a command line; returns the exit status for that, 2.
int refuse(const std::string& program, const std::string& why);

/// Reads the options of `program`, such as "lab rates"; returns an exit status if it should not go on.
/// `quick`: the quick form is what it runs without options.
std::optional<int> parse(const std::string& program, const std::string& about, int argc,
                         const char* const* argv, Given& given, bool quick);

/// The same for the study that the program runs without a name, which has additional settings.
std::optional<int> parse_comparison(int argc, const char* const* argv, Given& given);

}  // namespace gradus::lab
