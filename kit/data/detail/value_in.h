#pragma once
// Facts in system files such as /proc/cpuinfo.

#include <filesystem>
#include <string>
#include <string_view>

namespace gradus::kit {

/// The value in the first line `KEY<separator>VALUE` of a system file, without quotes; `otherwise` if there
/// is none.
std::string value_in(const std::filesystem::path& file, std::string_view key, char separator,
                     const std::string& otherwise);

}  // namespace gradus::kit
