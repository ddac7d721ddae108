// What a learner has done, in files that anybody may change.
#include "learn/program/progress.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

namespace gradus::learn {

namespace {

namespace fs = std::filesystem;

Exercise layer_norm() {
  Exercise exercise;
  exercise.name = "11_layer_norm";
  exercise.folder = test::source_file("examples/course/11_layer_norm");
  return exercise;
}

Progress progress_in(const test::ScratchFolder& folder) { return Progress(layer_norm(), folder.path()); }

}  // namespace

TEST_CASE("progress: a learner's file is never overwritten") {
  const test::ScratchFolder folder;
  const Exercise exercise = layer_norm();
  const Progress progress(exercise, folder.path());
  CHECK_FALSE(progress.begun());
  CHECK_FALSE(place_stub(exercise, progress, false));
  kit::replace_file(progress.answer(), "mine");
  CHECK_FALSE(place_stub(exercise, progress, false));
  CHECK(text_of(progress.answer()) == "mine");
  CHECK(place_stub(exercise, progress, true) == folder / "11_layer_norm.h.1");
  CHECK(text_of(folder / "11_layer_norm.h.1") == "mine");
  CHECK(text_of(progress.answer()) == text_of(exercise.folder / "stub.h"));
  CHECK(place_stub(exercise, progress, true) == folder / "11_layer_norm.h.2");
}

TEST_CASE("progress: files of a chapter that had another number get its new name") {
  const test::ScratchFolder folder;
  const std::vector<Exercise> all = {layer_norm()};
  CHECK(renumber(all, folder / "none").empty());
  for (const char* name :
       {"09_layer_norm.h", "09_layer_norm.h.1", "09_layer_norm.json", "09_norms.h", "layer_norm.h"})
    kit::replace_file(folder / name, name);
  const auto renamed = renumber(all, folder.path());
  REQUIRE(renamed.size() == 1);
  CHECK(renamed[0] == std::pair(folder / "09_layer_norm.h", folder / "11_layer_norm.h"));
  for (const char* ending : {".h", ".h.1", ".json"})
    CHECK(text_of(folder / ("11_layer_norm" + std::string(ending))) == "09_layer_norm" + std::string(ending));
  CHECK(text_of(folder / "09_norms.h") == "09_norms.h");
  CHECK(text_of(folder / "layer_norm.h") == "layer_norm.h");
  CHECK(renumber(all, folder.path()).empty());

  kit::replace_file(folder / "12_layer_norm.h", "older");  // the newer one is never overwritten
  CHECK(renumber(all, folder.path()).empty());
  CHECK(text_of(folder / "11_layer_norm.h") == "09_layer_norm.h");
}

TEST_CASE("progress: only files with a number are of a chapter, and of two the second keeps its name") {
  const test::ScratchFolder folder;
  const std::vector<Exercise> all = {layer_norm()};
  for (const char* name : {"9.h", "x9_layer_norm.h", "9x_layer_norm.h", "009layer_norm.h"}) {
    CAPTURE(name);
    kit::replace_file(folder / name, name);
    CHECK(renumber(all, folder.path()).empty());
    CHECK(text_of(folder / name) == name);
  }
  fs::create_symlink(folder / "elsewhere.h", folder / "08_layer_norm.h");  // leads nowhere
  CHECK(renumber(all, folder.path()).empty());
  CHECK(fs::is_symlink(folder / "08_layer_norm.h"));
  for (const char* name : {"09_layer_norm.h", "12_layer_norm.h"}) kit::replace_file(folder / name, name);
  const auto renamed = renumber(all, folder.path());
  REQUIRE(renamed.size() == 1);
  const bool first = renamed[0].first == folder / "09_layer_norm.h";
  const std::string moved = first ? "09_layer_norm.h" : "12_layer_norm.h";
  const std::string kept = first ? "12_layer_norm.h" : "09_layer_norm.h";
  CHECK(text_of(folder / "11_layer_norm.h") == moved);
  CHECK_FALSE(fs::exists(folder / moved));
  CHECK(text_of(folder / kept) == kept);
}

TEST_CASE("progress: an answer that was not graded, and one without cases") {
  const test::ScratchFolder folder;
  const fs::path file = folder / "11_layer_norm.json";
  Progress progress = progress_in(folder);
  CHECK(progress.cases().empty());
  progress.forget_cases();
  CHECK_FALSE(fs::exists(file));
  kit::replace_file(progress.answer(), "mine");
  CHECK(progress.cases() == "begun");
  kit::replace_file(file, R"({"cases": [0, 0]})");
  CHECK_FALSE(progress_in(folder).done());
  CHECK(progress_in(folder).cases() == "0 of 0 cases");
}

TEST_CASE("progress: a stub that cannot be written leaves everything as it is") {
  const test::ScratchFolder folder;
  const Exercise exercise = layer_norm();
  const Progress progress(exercise, folder.path());
  kit::replace_file(progress.answer(), "mine");
  fs::create_directory(progress.answer().string() + ".new");  // no file can have this name now
  CHECK_THROWS_AS(place_stub(exercise, progress, true), Error);
  CHECK(text_of(progress.answer()) == "mine");
  CHECK_FALSE(fs::exists(folder / "11_layer_norm.h.1"));
}

TEST_CASE("progress: a link that leads nowhere is a file of the learner's too") {
  const test::ScratchFolder folder;
  const Exercise exercise = layer_norm();
  const Progress progress(exercise, folder.path());
  fs::create_symlink(folder / "elsewhere.h", progress.answer());
  CHECK_FALSE(place_stub(exercise, progress, false));
  CHECK(fs::is_symlink(progress.answer()));
  CHECK(place_stub(exercise, progress, true) == folder / "11_layer_norm.h.1");
  CHECK(fs::read_symlink(folder / "11_layer_norm.h.1") == folder / "elsewhere.h");
}

TEST_CASE("progress: an answer that was changed since it passed, and hints") {
  const test::ScratchFolder folder;
  Progress progress = progress_in(folder);
  kit::replace_file(progress.answer(), "mine");
  CHECK_FALSE(progress.changed());
  progress.set_cases(5, 5);
  CHECK(progress_in(folder).cases() == "done");
  kit::replace_file(progress.answer(), "mine, too");
  CHECK(progress_in(folder).cases() == "changed since it passed");
  CHECK(progress_in(folder).done());
  kit::replace_file(progress.answer(), "mine");
  CHECK(progress_in(folder).cases() == "done");
  fs::remove(progress.answer());
  CHECK(progress_in(folder).changed());
  CHECK(progress.hints() == 0);
  progress.set_hints(2);
  CHECK(progress_in(folder).hints() == 2);
  CHECK(progress_in(folder).cases() == "changed since it passed");
}

TEST_CASE("progress: what is not as it is written is named, with its file") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "11_layer_norm.json").string();
  const std::string cases = "cases: expects [passed, all], such as [3, 5]";
  const std::string said =
      R"(said: 'How much?': expects {"number": x, "sure": 0 to 1}, {"number": x, "right": true} or )"
      R"({"option": "text", "right": true})";
  const std::pair<std::string, std::string> damaged[] = {
      {"null", "expects an object"},
      {"[]", "expects an object"},
      {R"({"option": 1, "number": 1})", "expects the keys cases, graded, hints and said, got 'number'"},
      {R"({"cases": "x"})", cases},
      {R"({"cases": null})", cases},
      {R"({"cases": [1]})", cases},
      {R"({"cases": [1, "2"]})", cases},
      {R"({"cases": [5, 3]})", cases},
      {R"({"cases": [-1, 3]})", cases},
      {R"({"cases": [1, 18446744073709551615]})", cases},
      {R"({"cases": [1, 1000001]})", cases},
      {R"({"hints": -1})", "hints: expects a whole number of 0 or more"},
      {R"({"hints": "1"})", "hints: expects a whole number of 0 or more"},
      {R"({"graded": 1.5})", "graded: expects a whole number of 0 or more"},
      {R"({"said": []})", "said: expects an object"},
      {R"({"said": {"How much?": 3}})", said},
      {R"({"said": {"How much?": {"option": 1, "number": 1}}})", said},
      {R"({"said": {"How much?": {"option": "a"}}})", said},
      {R"({"said": {"How much?": {"option": "a", "right": 1}}})", said},
      {R"({"said": {"How much?": {"option": 1, "right": true}}})", said},
      {R"({"said": {"How much?": {"number": 3}}})", said},
      {R"({"said": {"How much?": {"number": 3, "right": 1}}})", said},
      {R"({"said": {"How much?": {"number": "3", "right": true}}})", said},
      {R"({"said": {"How much?": {"number": 3, "sure": null}}})", said},
      {R"({"said": {"How much?": {"number": 3, "sure": 1.5}}})", said},
      {R"({"said": {"How much?": {"number": 3, "sure": -0.5}}})", said},
      {R"({"said": {"How much?": {"number": "3", "sure": 0.5}}})", said},
      {R"({"said": {"How much?": {"number": 3, "sure": 0.5, "option": "a"}}})", said}};
  for (const auto& one : damaged) {
    const auto& [text, problem] = one;
    CAPTURE(one.first);
    kit::replace_file(file, text);
    CHECK_THROWS_WITH_AS(
        progress_in(folder),
        (file + ": " + problem + "; correct it, or remove the file, which forgets your progress").c_str(),
        Error);
  }
  kit::replace_file(file, R"({"cases": [1,})");
  CHECK_THROWS_WITH_AS(progress_in(folder), (file + " is not JSON: unexpected byte 14").c_str(), Error);
  kit::replace_file(file, R"({"cases": [3, 5], "said": {"Why?": {"option": "a", "right": false}}})");
  Progress progress = progress_in(folder);
  CHECK(progress.cases() == "3 of 5 cases");
  progress.forget_cases();
  CHECK(progress.cases().empty());
}

TEST_CASE("progress: a pipe, a device or a huge file is refused at once") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "11_layer_norm.json").string();
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(progress_in(folder), ("read_file: " + file + " is a pipe, expects a file").c_str(),
                       Error);
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  CHECK_THROWS_WITH_AS(progress_in(folder),
                       ("read_file: " + file + " is a device or a socket, expects a file").c_str(), Error);
  fs::remove(file);
  std::ofstream(file) << "{}";
  fs::resize_file(file, 1 << 30);  // takes no room on the disk
  CHECK_THROWS_WITH_AS(progress_in(folder), (file + " has 1073741824 bytes, expects at most 1048576").c_str(),
                       Error);
}

TEST_CASE("progress: what another process records meanwhile stays") {
  const test::ScratchFolder folder;
  Progress asking = progress_in(folder), grading = progress_in(folder);
  asking.say("Why?", {{"option", "a"}, {"right", true}});
  grading.set_cases(5, 5);
  asking.say("How much?", {{"number", 2}, {"sure", 0.5}});
  const Progress after = progress_in(folder);
  CHECK(after.done());
  CHECK(after.said("Why?").at("right") == true);
  CHECK(after.said("How much?").at("number") == 2);
}

TEST_CASE("progress: many who write at once lose nothing") {
  const test::ScratchFolder folder;
  const Exercise exercise = layer_norm();
  constexpr int kThreads = 4, kEach = 10;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      Progress progress = progress_in(folder);
      for (int i = 0; i < kEach; ++i) {
        progress.say(std::to_string(kEach * thread + i), {{"number", i}, {"sure", 0.5}});
        place_stub(exercise, progress, true);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const Progress after = progress_in(folder);
  for (int i = 0; i < kThreads * kEach; ++i) CHECK(after.said(std::to_string(i)).at("number") == i % kEach);
  // The first that was placed, and a copy of each one before the last.
  CHECK(fs::exists(folder / ("11_layer_norm.h." + std::to_string(kThreads * kEach - 1))));
}

}  // namespace gradus::learn
