#include "learn/program/exercise.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"

namespace gradus::learn {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  std::error_code unknown;  // of something that is no file, which read_file reports
  const std::uintmax_t bytes = fs::file_size(path, unknown);
  if (!unknown && bytes > kMostBytes)
    fail_input_with("{} has {} bytes, expects at most {}", path.string(), bytes, kMostBytes);
  return kit::read_file(path);
}

nlohmann::json json_of(const fs::path& path) {
  const std::string text = text_of(path);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    fail_input_with("{} is not JSON: unexpected byte {}", path.string(), error.byte);
  } catch (const nlohmann::json::exception& error) {
    fail_input(path.string() + " is no JSON: " + io::printable(error.what()));
  }
}

std::vector<Exercise> exercises(const fs::path& folder, const fs::path& language) {
  std::vector<Exercise> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / "exercise.json";
    const std::string folder_name = entry.path().filename().string();
    if (!std::isdigit(static_cast<unsigned char>(folder_name[0])) || !fs::exists(file))
      continue;  // or the template
    Exercise one;
    one.name = folder_name;
    one.folder = entry.path();
    const nlohmann::json json = json_of(file);
    try {
      one.number = std::stoi(one.name);
      one.title = json.at("title");
      one.note = json.at("note");
      one.forbidden = json.at("forbidden");
      one.hints = json.at("hints");
      if (one.hints.size() != 3) fail("expects three hints: the idea, the equation, the line");
      one.allowed = json.value("allowed", std::vector<std::string>());
    } catch (const std::exception& error) {
      fail_input(file.string() + ": " + error.what());
    }
    if (!language.empty())
      for (const std::string& name : {std::string("program"), one.name})
        one.words.add(one.catalogues.emplace_back(language / "learn" / (name + ".po")));
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const Exercise& a, const Exercise& b) { return a.name < b.name; });
  return all;
}

const Exercise& find(const std::vector<Exercise>& all, const std::string& wanted) {
  for (const Exercise& one : all)
    if (wanted == one.name || wanted == one.typed() || wanted == one.name.substr(0, 2) ||
        wanted == one.name.substr(3))
      return one;
  fail_input_with("no exercise is called '{}'; without a name this command lists them", wanted);
}

}  // namespace gradus::learn
