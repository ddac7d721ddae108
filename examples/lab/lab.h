#pragma once
// The whole lab: measure, train, report.

#include "lab/options.h"

namespace gradus::lab {

/// Runs or goes on with a lab; prints the verdict and the report's path. The exit status: 0, or
/// kit::interrupt_status() when it was interrupted (what is done is kept and reported).
int run_lab(const LabOptions& options);

/// Draws the report of a folder again; prints the same two lines.
int report_lab(const std::filesystem::path& folder);

}  // namespace gradus::lab
