#include "learn/program/progress.h"

#include <fmt/format.h>

#include "gradus/core/error.h"

namespace gradus::learn {

namespace fs = std::filesystem;

Progress::Progress(const Exercise& exercise, const fs::path& folder)
    : answer_(folder / (exercise.name + ".h")),
      file_(folder / (exercise.name + ".json")),
      json_(nlohmann::json::object()) {
  if (fs::exists(file_)) json_ = json_of(file_);
  if (!json_.is_object()) throw Error(file_.string() + " is not what this program writes: remove it");
}

void Progress::set_cases(int passed, int all) { json_["cases"] = {passed, all}; }

bool Progress::done() const {
  return json_.contains("cases") && json_["cases"][0] == json_["cases"][1] && json_["cases"][1] != 0;
}

std::string Progress::cases(const Catalogue& words) const {
  if (done()) return words.phrase("done");
  if (json_.contains("cases"))
    return words.phrase("{passed} of {all} cases", fmt::arg("passed", json_["cases"][0].get<int>()),
                        fmt::arg("all", json_["cases"][1].get<int>()));
  return begun() ? words.phrase("begun") : "";
}

nlohmann::json Progress::said(const std::string& question) const {
  const auto all = json_.find("said");
  if (all == json_.end() || !all->contains(question)) return nullptr;
  return (*all)[question];
}

void Progress::say(const std::string& question, const nlohmann::json& what) {
  json_["said"][question] = what;
}

void Progress::save() const {
  fs::create_directories(file_.parent_path());
  write_file(file_, json_.dump(2) + "\n");
}

std::optional<fs::path> place_stub(const Exercise& exercise, const Progress& progress, bool reset) {
  const fs::path& to = progress.answer();
  std::optional<fs::path> copy;
  if (fs::exists(to)) {
    if (!reset) return {};
    for (int i = 1; !copy || fs::exists(*copy); ++i) copy = fmt::format("{}.{}", to.string(), i);
    fs::rename(to, *copy);
  }
  fs::create_directories(to.parent_path());
  write_file(to, text_of(exercise.folder / "stub.h"));
  return copy;
}

}  // namespace gradus::learn
