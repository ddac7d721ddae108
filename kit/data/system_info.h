#pragma once
// The machine a result came from, for reports.

#include <string>
#include <utility>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Processor, cores this program may use, memory, system, compiler and the date (UTC), as key and
/// value. Holds no names of machines, users or folders: `report.key_values("Machine", kit::system_info());`
std::vector<std::pair<std::string, std::string>> system_info();

}  // namespace gradus::kit
