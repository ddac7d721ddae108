#pragma once
// The words of the command line that are about studies:
//
//   lab STUDY [--quick | --full] [--out DIR | --resume DIR] [--shard I/N]     runs one
//   lab claims, lab claim N                                                   the quick form of all, or of
//   one claim's lab merge DIR... --out DIR                                                joins the parts of
//   several machines lab studies                                                               lists them

#include <filesystem>
#include <optional>

namespace gradus::lab {

/// The exit status; nothing where the first argument is none of these words.
std::optional<int> run_study_command(int argc, const char* const* argv);

/// Draws the studies in `folder`, or the one whose folder it is, and those beside it, again.
int report_studies(const std::filesystem::path& folder);
/// Whether there is a study to draw.
bool holds_studies(const std::filesystem::path& folder);

}  // namespace gradus::lab
