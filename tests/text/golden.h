#pragma once
// Tokens and scores of an independent program, golden/make_golden.py.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support.h"

namespace gradus::test {

inline const nlohmann::json& text_golden() {
  static const nlohmann::json golden =
      nlohmann::json::parse(std::ifstream(source_file("tests/text/golden/golden.json")));
  return golden;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The lines of golden/text.txt, in one string.
inline std::string sample_text() { return read_text(source_file("tests/text/golden/text.txt")); }

}  // namespace gradus::test
