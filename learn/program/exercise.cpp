#include "learn/program/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "gradus/core/error.h"

namespace gradus::learn {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw Error("cannot read " + path.string());
  return text;
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.flush();
    if (!file) {
      std::error_code ignored;
      fs::remove(part, ignored);
      throw Error("cannot write " + path.string());
    }
  }
  fs::rename(part, path);
}

nlohmann::json json_of(const fs::path& path) {
  try {
    return nlohmann::json::parse(text_of(path));
  } catch (const nlohmann::json::exception& error) {
    throw Error(path.string() + " is no proper JSON: " + error.what());
  }
}

std::vector<Exercise> exercises(const fs::path& folder, const fs::path& language) {
  std::vector<Exercise> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / "exercise.json";
    if (!fs::exists(file)) continue;
    Exercise one;
    one.name = entry.path().filename().string();
    one.folder = entry.path();
    const nlohmann::json json = json_of(file);
    try {
      one.number = std::stoi(one.name);
      one.title = json.at("title");
      one.note = json.at("note");
      one.forbidden = json.at("forbidden");
      one.allowed = json.value("allowed", std::vector<std::string>());
    } catch (const std::exception& error) {
      throw Error(file.string() + ": " + error.what());
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
  throw Error(fmt::format("no exercise is called '{}'; without a name this command lists them", wanted));
}

}  // namespace gradus::learn
