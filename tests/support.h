#pragma once
// What every test program has: files of the source tree, a folder for scratch files.

#include <cstdint>
#include <filesystem>
#include <string>

namespace gradus::test {

/// A file of the source tree: `source_file("tests/golden/adam.npy")`.
std::filesystem::path source_file(const std::filesystem::path& relative);

/// This program, to be started again by a shell: its path in quotes, after what runs programs built for
/// another CPU, if it was.
std::string this_program();

/// All that one test case prints in a process of its own, with variables set before it: "GRADUS_ISA=avx2".
std::string output_of_child(const std::string& environment, const std::string& test_case);

/// How much of a random test to run, or from which seed: the number in this environment variable, if it is
/// set.
std::uint64_t number_or(const char* variable, std::uint64_t otherwise);

/// GRADUS_SEED, or another one each time.
std::uint64_t seed_of_this_run();

/// A fresh, empty folder under the system's temporary folder, removed when the object goes.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace gradus::test
