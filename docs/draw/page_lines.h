#pragma once
// Reads numbers from the output that a chapter quotes; a test compares the quotes with the programs.

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradus::docs {

/// The lines of a page that begin with `start`, in their order.
inline std::vector<std::string> lines_of(const std::filesystem::path& page, const std::string& start) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(start)) lines.push_back(line);
  return lines;
}

/// The next number of a line after `words`.
inline double number_after(const std::string& line, std::size_t& at, const std::string& words) {
  const std::size_t found = line.find(words, at);
  if (found == std::string::npos) throw std::runtime_error("no '" + words + "' in: " + line);
  std::size_t length = 0;
  const double number = std::stod(line.substr(found + words.size()), &length);
  at = found + words.size() + length;
  return number;
}

}  // namespace gradus::docs
