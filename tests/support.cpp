#ifdef GRADUS_FUZZ  // libFuzzer has a main
#define DOCTEST_CONFIG_IMPLEMENT
#else
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#endif
#include "support.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

namespace gradus::test {

std::filesystem::path source_file(const std::filesystem::path& relative) {
  return std::filesystem::path(GRADUS_SOURCE_DIR) / relative;
}

std::string this_program() {
  return std::string(GRADUS_EMULATOR) + " '" + std::filesystem::read_symlink("/proc/self/exe").string() + "'";
}

std::string output_of_child(const std::string& environment, const std::string& test_case) {
  const std::string command =
      environment + " " + this_program() + " --no-skip --test-case='" + test_case + "' 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  pclose(pipe);
  return output;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "gradus-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("ScratchFolder: cannot make " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::uint64_t number_or(const char* variable, std::uint64_t otherwise) {
  const char* const given = ::getenv(variable);
  return given ? ::strtoull(given, nullptr, 10) : otherwise;
}

std::uint64_t seed_of_this_run() { return number_or("GRADUS_SEED", std::random_device()() % 1'000'000'000); }

}  // namespace gradus::test
