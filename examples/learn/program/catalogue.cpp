#include "learn/program/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gradus/core/error.h"

namespace gradus::learn {

namespace fs = std::filesystem;

namespace {

/// The text between the quotes of a line.
std::string unquoted(const std::string& line) {
  const std::size_t first = line.find('"'), last = line.rfind('"');
  std::string text;
  for (std::size_t i = first + 1; i < last && last != std::string::npos; ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < last;
    if (escaped) ++i;
    text += escaped && line[i] == 'n' ? '\n' : escaped && line[i] == 't' ? '\t' : line[i];
  }
  return text;
}

/// The first language variable that is set, without the country: "tr" of "tr_TR.UTF-8".
std::string system_language() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0')
      return std::string(value).substr(0, std::string(value).find_first_of("_.@"));
  }
  return "";
}

}  // namespace

void Catalogue::add(const fs::path& file) {
  std::ifstream lines(file);
  std::string source, translation;
  std::string* field = nullptr;
  bool fuzzy = false;
  const auto keep = [&] {
    if (!fuzzy && !source.empty() && !translation.empty()) entries_[source] = translation;
    source.clear();
    translation.clear();
    fuzzy = false;
    field = nullptr;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) keep();
    if (line.starts_with("#,")) fuzzy = line.find("fuzzy") != std::string::npos;
    if (line.starts_with("msgid ")) field = &source;
    if (line.starts_with("msgstr ")) field = &translation;
    if (field != nullptr && (line.starts_with("msg") || line.starts_with('"'))) *field += unquoted(line);
  }
  keep();
}

const std::string& Catalogue::operator()(const std::string& paragraph) const {
  const auto found = entries_.find(paragraph);
  return found == entries_.end() ? paragraph : found->second;
}

fs::path language_folder(const fs::path& languages, const std::string& wanted) {
  const std::string name = wanted.empty() ? system_language() : wanted;
  std::vector<std::string> there = {"en"};
  for (const fs::directory_entry& entry : fs::directory_iterator(languages))
    if (entry.is_directory()) there.push_back(entry.path().filename().string());
  std::sort(there.begin(), there.end());
  const bool is_there = std::find(there.begin(), there.end(), name) != there.end();
  if (!is_there && !wanted.empty())
    fail_input(fmt::format("there is no language '{}'; there are {}", wanted, fmt::join(there, ", ")));
  return is_there && name != "en" ? languages / name : fs::path();
}

std::vector<std::string> explanation(const std::string& stub) {
  std::vector<std::string> found;
  std::istringstream lines(stub);
  bool begun = false, inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("//")) {
      if (begun) break;
      continue;
    }
    begun = true;
    const bool prose = line.size() > 3 && line[2] == ' ' && line[3] != ' ';
    if (prose && inside) found.back() += " " + line.substr(3);
    if (prose && !inside) found.push_back(line.substr(3));
    inside = prose;
  }
  return found;
}

}  // namespace gradus::learn
