#pragma once
// Every format in which gradus writes files. tests/compat/files/VERSION has one small file or folder of each,
// as that release wrote it; every later version reads them (old_files_test.cpp).

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gradus::test {

struct Format {
  std::string name;  // of its folder
  std::function<void(const std::filesystem::path& folder)> write;
  /// Reads what write() wrote, in this version or an earlier one, and CHECKs every value.
  std::function<void(const std::filesystem::path& folder)> read;
};

std::vector<Format> formats();

// Their parts.
std::vector<Format> formats_of_tensors();     // safetensors, npy, checkpoints
std::vector<Format> formats_of_models();      // the folder of each family
std::vector<Format> formats_of_tokenizers();  // in every form
std::vector<Format> formats_of_records();     // run logs, studies, exercises

}  // namespace gradus::test
