#include "learn/program/progress.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

#include "gradus/core/error.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "learn/program/lock.h"

namespace gradus::learn {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

bool has_keys(const json& object, const char* one, const char* other) {
  return object.is_object() && object.size() == 2 && object.contains(one) && object.contains(other);
}

bool is_whole(const json& n) { return n.is_number_integer() && n >= 0; }

bool are_cases(const json& cases) {
  const auto whole = [](const json& n) { return is_whole(n) && n <= 1'000'000; };
  return cases.is_array() && cases.size() == 2 && whole(cases[0]) && whole(cases[1]) && cases[0] <= cases[1];
}

bool is_said(const json& said) {
  if (has_keys(said, "number", "sure"))
    return said["number"].is_number() && said["sure"].is_number() && said["sure"] >= 0 && said["sure"] <= 1;
  if (has_keys(said, "number", "right")) return said["number"].is_number() && said["right"].is_boolean();
  return has_keys(said, "option", "right") && said["option"].is_string() && said["right"].is_boolean();
}

/// The first deviation from the format that Progress writes; empty if there is none.
std::string problem_in(const json& progress) {
  if (!progress.is_object()) return "expects an object";
  for (const auto& [key, value] : progress.items()) {
    if (key == "cases" && !are_cases(value)) return "cases: expects [passed, all], such as [3, 5]";
    if (key == "said" && !value.is_object()) return "said: expects an object";
    if ((key == "graded" || key == "hints") && !is_whole(value))
      return key + ": expects a whole number of 0 or more";
    if (key != "cases" && key != "said" && key != "graded" && key != "hints")
      return "expects the keys cases, graded, hints and said, got " + io::quote(key);
  }
  if (const auto said = progress.find("said"); said != progress.end())
    for (const auto& [question, one] : said->items())
      if (!is_said(one))
        return fmt::format(
            R"(said: {}: expects {{"number": x, "sure": 0 to 1}}, {{"number": x, "right": true}} or )"
            R"({{"option": "text", "right": true}})",
            io::quote(question));
  return "";
}

/// "pre_and_post" of "24_pre_and_post"; empty if a name has no number.
std::string subject_of(const std::string& name) {
  const bool numbered = name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
                        std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_';
  return numbered ? name.substr(3) : "";
}

std::uint32_t checksum(const std::string& text) { return io::crc32(text.data(), text.size()); }

}  // namespace

Progress::Progress(const Exercise& exercise, const fs::path& folder)
    : answer_(folder / (exercise.name + ".h")), file_(folder / (exercise.name + ".json")), json_(read()) {}

json Progress::read() const {
  if (!fs::exists(file_)) return json::object();
  const json read = json_of(file_);
  if (const std::string problem = problem_in(read); !problem.empty())
    fail_input(file_.string() + ": " + problem +
               "; correct it, or remove the file, which forgets your progress");
  return read;
}

void Progress::change(const std::function<void(json&)>& how) {
  fs::create_directories(file_.parent_path());
  const FolderLock lock(file_.parent_path());
  json_ = read();
  how(json_);
  kit::replace_file(file_, json_.dump(2) + "\n");
}

void Progress::set_cases(int passed, int all) {
  change([&](json& progress) {
    progress["cases"] = {passed, all};
    if (begun()) progress["graded"] = checksum(text_of(answer_));
  });
}

void Progress::forget_cases() {
  if (json_.contains("cases")) change([](json& progress) { progress.erase("cases"); });
}

bool Progress::done() const {
  return json_.contains("cases") && json_["cases"][0] == json_["cases"][1] && json_["cases"][1] != 0;
}

std::string Progress::cases(const Catalogue& words) const {
  if (done()) return changed() ? words.phrase("changed since it passed") : words.phrase("done");
  if (json_.contains("cases"))
    return words.phrase("{passed} of {all} cases", fmt::arg("passed", json_["cases"][0].get<int>()),
                        fmt::arg("all", json_["cases"][1].get<int>()));
  return begun() ? words.phrase("begun") : "";
}

bool Progress::changed() const {
  if (!json_.contains("graded")) return false;
  std::error_code unknown;
  return !fs::is_regular_file(answer_, unknown) || checksum(text_of(answer_)) != json_["graded"];
}

std::size_t Progress::hints() const { return json_.value("hints", std::size_t{0}); }

void Progress::set_hints(std::size_t shown) {
  change([&](json& progress) { progress["hints"] = shown; });
}

json Progress::said(const std::string& question) const {
  const auto all = json_.find("said");
  if (all == json_.end() || !all->contains(question)) return nullptr;
  return (*all)[question];
}

void Progress::say(const std::string& question, const json& what) {
  change([&](json& progress) { progress["said"][question] = what; });
}

std::vector<std::pair<fs::path, fs::path>> renumber(const std::vector<Exercise>& all,
                                                    const fs::path& folder) {
  std::map<std::string, std::string> now;  // "pre_and_post": "24_pre_and_post"
  std::set<std::string> taken;
  for (const Exercise& one : all) {
    now[subject_of(one.name)] = one.name;
    for (const char* ending : {".h", ".json"})
      if (fs::exists(fs::symlink_status(folder / (one.name + ending)))) taken.insert(one.name);
  }
  std::vector<std::pair<fs::path, fs::path>> moves, answers;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string file = entry.path().filename().string(), name = file.substr(0, file.find('.'));
    const auto found = now.find(subject_of(name));
    if (found != now.end() && found->second != name && !taken.contains(found->second))
      moves.emplace_back(entry.path(), folder / (found->second + file.substr(name.size())));
  }
  if (moves.empty()) return {};
  const FolderLock lock(folder);
  for (const auto& [from, to] : moves) {
    if (!fs::exists(from) || fs::exists(fs::symlink_status(to))) continue;  // another ./run learn was faster
    fs::rename(from, to);
    if (to.extension() == ".h") answers.emplace_back(from, to);
  }
  return answers;
}

std::optional<fs::path> place_stub(const Exercise& exercise, const Progress& progress, bool reset) {
  const fs::path &to = progress.answer(), fresh = to.string() + ".new";
  fs::create_directories(to.parent_path());
  const FolderLock lock(to.parent_path());
  const auto is_there = [](const fs::path& path) { return fs::exists(fs::symlink_status(path)); };
  const bool there = is_there(to);
  if (there && !reset) return {};
  kit::replace_file(fresh, text_of(exercise.folder / "stub.h"));  // first, since the disk may be full
  std::optional<fs::path> copy;
  if (there) {
    for (int i = 1; !copy || is_there(*copy); ++i) copy = fmt::format("{}.{}", to.string(), i);
    fs::rename(to, *copy);
  }
  fs::rename(fresh, to);
  return copy;
}

}  // namespace gradus::learn
