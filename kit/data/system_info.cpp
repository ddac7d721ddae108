#include "gradus/kit/data/system_info.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <ctime>
#include <fstream>
#include <thread>

namespace gradus::kit {
namespace {

// The value in the first line `KEY<separator>VALUE` of a system file, without quotes; `otherwise` if there is
// none.
std::string value_in(const char* file, const std::string& key, char separator, const std::string& otherwise) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t split = line.find(separator);
    if (split == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t start = line.find_first_not_of(" \t\"", split + 1);
    const std::size_t stop = line.find_last_not_of(" \t\"");
    if (start != std::string::npos && stop >= start) return line.substr(start, stop - start + 1);
  }
  return otherwise;
}

// A container or taskset may grant fewer cores than the machine has.
int usable_cores() {
#ifdef __linux__
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Linux names the model on x86; elsewhere only the architecture is known.
std::string processor() {
  utsname machine = {};
  return value_in("/proc/cpuinfo", "model name", ':', uname(&machine) == 0 ? machine.machine : "unknown");
}

std::string operating_system() {
  utsname machine = {};
  return value_in("/etc/os-release", "PRETTY_NAME", '=', uname(&machine) == 0 ? machine.sysname : "unknown");
}

std::string memory() {
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  const double bytes = pages * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024.0 * 1024.0));
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

std::vector<std::pair<std::string, std::string>> system_info() {
  return {
      {"processor", processor()},
      {"cores", std::to_string(usable_cores())},
      {"memory", memory()},
      {"system", operating_system()},
      {"compiler", compiler()},
      {"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))},
  };
}

}  // namespace gradus::kit
