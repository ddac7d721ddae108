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

#include "gradus/kit/data/detail/value_in.h"

namespace gradus::kit {

std::string value_in(const std::filesystem::path& file, std::string_view key, char separator,
                     const std::string& otherwise) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t split = line.find(separator);
    if (split == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t start = line.find_first_not_of(" \t\"", split + 1);
    if (start != std::string::npos) return line.substr(start, line.find_last_not_of(" \t\"") + 1 - start);
  }
  return otherwise;
}

namespace {

// A container or taskset may grant fewer cores than the machine has.
int usable_cores() {
  const auto all = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // never run: needs more than 1024 cores
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return all;
  return CPU_COUNT(&cores);
#else
  return all;
#endif
}

utsname machine() {
  utsname names = {};
  uname(&names);  // fails only for a bad address
  return names;
}

// Linux names the model on x86; elsewhere only the architecture is known.
std::string processor() { return value_in("/proc/cpuinfo", "model name", ':', machine().machine); }

std::string operating_system() { return value_in("/etc/os-release", "PRETTY_NAME", '=', machine().sysname); }

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
