#pragma once
// Describes the machine that produced a result, for reports.

#include <string>
#include <utility>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Processor, cores available to this program, memory, system, compiler and the date (UTC), as keys and
/// values. Contains no names of machines, users or folders.
/// `report.key_values("Machine", kit::system_info());`
std::vector<std::pair<std::string, std::string>> system_info();

}  // namespace gradus::kit
