#include "learn/program/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/error.h"

namespace gradus::learn {

namespace fs = std::filesystem;

namespace {

bool is_number(const nlohmann::json& json, const char* name) {
  return json.contains(name) && json[name].is_number();
}

/// Whether this is what save() writes.
bool is_progress(const nlohmann::json& json) {
  if (!json.is_object()) return false;
  const auto whole = [](const nlohmann::json& j) { return j.is_number_integer(); };
  if (const auto cases = json.find("cases"); cases != json.end())
    if (!cases->is_array() || cases->size() != 2 || !std::all_of(cases->begin(), cases->end(), whole))
      return false;
  const auto said = json.find("said");
  if (said == json.end()) return true;
  return said->is_object() && std::all_of(said->begin(), said->end(), [](const nlohmann::json& one) {
           return one.is_object() &&
                  (one.contains("option") || (is_number(one, "number") && is_number(one, "sure")));
         });
}

}  // namespace

Progress::Progress(const Exercise& exercise, const fs::path& folder)
    : answer_(folder / (exercise.name + ".h")),
      file_(folder / (exercise.name + ".json")),
      json_(nlohmann::json::object()) {
  if (fs::exists(file_)) json_ = json_of(file_);
  if (!is_progress(json_))
    throw Error(file_.string() + " is not what this program writes: mend it, or remove it");
}

void Progress::set_cases(int passed, int all) { json_["cases"] = {passed, all}; }

void Progress::forget_cases() { json_.erase("cases"); }

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
  save();
}

void Progress::save() const {
  fs::create_directories(file_.parent_path());
  write_file(file_, json_.dump(2) + "\n");
}

std::optional<fs::path> place_stub(const Exercise& exercise, const Progress& progress, bool reset) {
  const fs::path &to = progress.answer(), fresh = to.string() + ".new";
  const bool there = fs::exists(to);
  if (there && !reset) return {};
  fs::create_directories(to.parent_path());
  write_file(fresh, text_of(exercise.folder / "stub.h"));  // first: a disk may be full
  std::optional<fs::path> copy;
  if (there) {
    for (int i = 1; !copy || fs::exists(*copy); ++i) copy = fmt::format("{}.{}", to.string(), i);
    fs::rename(to, *copy);
  }
  fs::rename(fresh, to);
  return copy;
}

}  // namespace gradus::learn
