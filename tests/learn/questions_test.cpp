#include "learn/program/questions.h"

#include <doctest/doctest.h>

#include <sstream>

#include "gradus/core/error.h"
#include "support.h"

namespace gradus::learn {

namespace {

Questions some_questions() {
  return {
      .predictions = {{.ask = "How much?",
                       .unit = "nats",
                       .printed = "loss   2.08",  // as it stands in a table
                       .note = "So much.",
                       .answer = 2.08,
                       .low = 1.9,
                       .high = 2.3}},
      .choices = {{.ask = "Why?", .options = {{"a", "no", false}, {"b", "yes", true}, {"c", "no", false}}}}};
}

Progress fresh(const test::ScratchFolder& folder) {
  Exercise exercise;
  exercise.name = "11_layer_norm";
  return Progress(exercise, folder.path());
}

std::string asked(const Questions& questions, Progress& progress, const std::string& typed) {
  std::istringstream in(typed);
  std::ostringstream out;
  ask(questions, progress, in, out);
  return out.str();
}

}  // namespace

TEST_CASE("questions: every chapter's are complete, and its program prints the answers") {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_file("learn"))) {
    if (!std::filesystem::exists(entry.path() / "questions.json")) continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Questions questions = questions_of(entry.path());
    CHECK_FALSE(questions.predictions.empty());
    CHECK_FALSE(questions.choices.empty());
    const std::string output = text_of(test::source_file("tests/examples/expected/course/" + name + ".txt"));
    for (const std::string& words : problems_of(questions, output)) FAIL_CHECK(words);
  }
}

TEST_CASE("questions: what is wrong with them is found") {
  const std::string output = "the loss   2.08 of it";
  CHECK(problems_of(some_questions(), output).empty());
  const auto wrong = [&](auto change) {
    Questions questions = some_questions();
    change(questions);
    return problems_of(questions, output).size();
  };
  CHECK(wrong([](Questions& q) { q.predictions[0].low = 2.1; }) == 1);
  CHECK(wrong([](Questions& q) { q.predictions[0].answer = 2.0; }) == 1);
  CHECK(wrong([](Questions& q) { q.predictions[0].answer = 2; }) ==
        1);  // "2" stands in 2.08, but is another number
  CHECK(wrong([](Questions& q) { q.predictions[0].printed = "loss: 2.08"; }) == 1);
  Questions many = some_questions();
  many.predictions[0].printed = "49,984 weights",
  many.predictions[0].answer = many.predictions[0].high = 49984;
  CHECK(problems_of(many, "49,984 weights").empty());
  CHECK(wrong([](Questions& q) { q.predictions[0].note = ""; }) == 1);
  CHECK(wrong([](Questions& q) { q.choices[0].options[0].right = true; }) == 1);
  CHECK(wrong([](Questions& q) { q.choices[0].options[1].right = false; }) == 1);
  CHECK(wrong([](Questions& q) { q.choices[0].options[2].why = ""; }) == 1);
  CHECK(wrong([](Questions& q) { q.choices[0].options.pop_back(); }) == 1);
}

TEST_CASE("questions: asked once, skipped by Enter, graded by band") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  const Questions questions = some_questions();
  CHECK(asked(questions, progress, "").find("How much? (nats)") != std::string::npos);
  CHECK(progress.said("How much?").is_null());
  asked(questions, progress, "\n\n");
  CHECK(progress.said("How much?").is_null());

  const std::string text = asked(questions, progress, "two\n2 90%\n7\n1\n2\n");
  CHECK(text.find("A number is wanted") != std::string::npos);
  CHECK(text.find("Yes: it prints loss 2.08. So much.") != std::string::npos);
  CHECK(text.find("A number from 1 to 3 is wanted.") != std::string::npos);
  CHECK(progress.said("Why?").at("right") == false);  // the first word counts
  CHECK(asked(questions, progress, "3\n").empty());

  const Progress again = fresh(folder);
  Calibration calibration;
  add(calibration, questions, again);
  CHECK(calibration.words() ==
        "Predictions: 1 of 1 in the band, 90 % sure on average: well calibrated. Calibration 99 of 100.");
}

TEST_CASE("questions: what was said is saved at once, and a % is explained where it is the unit") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  Questions questions = some_questions();
  questions.predictions[0].unit = "%";
  const std::string text = asked(questions, progress, "2%\n2\n");  // the choice is not answered
  CHECK(text.find("The number itself has no %: write 5, or 5 80%") != std::string::npos);
  CHECK(fresh(folder).said("How much?").at("number") == 2);
  CHECK(asked(questions, progress, "۲\n").find("Yes.") != std::string::npos);
}

TEST_CASE("questions: calibration tells who is too sure") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  asked(some_questions(), progress, "5 100%\n");
  Calibration calibration;
  CHECK(calibration.words().empty());
  add(calibration, some_questions(), progress);
  CHECK(
      calibration.words() ==
      "Predictions: 0 of 1 in the band, 100 % sure on average: more sure than right. Calibration 0 of 100.");
}

TEST_CASE("progress: a learner's file is never overwritten") {
  const test::ScratchFolder folder;
  Exercise exercise;
  exercise.name = "11_layer_norm";
  exercise.folder = test::source_file("learn/11_layer_norm");
  const Progress progress(exercise, folder.path());
  CHECK_FALSE(progress.begun());
  CHECK_FALSE(place_stub(exercise, progress, false));
  write_file(progress.answer(), "mine");
  CHECK_FALSE(place_stub(exercise, progress, false));
  CHECK(text_of(progress.answer()) == "mine");
  CHECK(place_stub(exercise, progress, true) == folder / "11_layer_norm.h.1");
  CHECK(text_of(folder / "11_layer_norm.h.1") == "mine");
  CHECK(text_of(progress.answer()) == text_of(exercise.folder / "stub.h"));
  CHECK(place_stub(exercise, progress, true) == folder / "11_layer_norm.h.2");
}

TEST_CASE("progress: a stub that cannot be written leaves everything as it is") {
  const test::ScratchFolder folder;
  Exercise exercise;
  exercise.name = "11_layer_norm";
  exercise.folder = test::source_file("learn/11_layer_norm");
  const Progress progress(exercise, folder.path());
  write_file(progress.answer(), "mine");
  for (const char* part : {".part", ".new.part"})  // no file can have this name now
    std::filesystem::create_directory(progress.answer().string() + part);
  CHECK_THROWS_AS(place_stub(exercise, progress, true), Error);
  CHECK(text_of(progress.answer()) == "mine");
  CHECK_FALSE(std::filesystem::exists(folder / "11_layer_norm.h.1"));
}

TEST_CASE("progress: a damaged file is named") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "11_layer_norm.json").string();
  for (const std::string damaged :
       {"null", "[]", R"({"cases": "x"})", R"({"cases": null})", R"({"cases": [1]})",
        R"({"cases": [1, "2"]})", R"({"said": []})", R"({"said": {"How much?": 3}})",
        R"({"said": {"How much?": {"number": 3, "sure": null}}})"}) {
    CAPTURE(damaged);
    write_file(file, damaged);
    CHECK_THROWS_WITH_AS(fresh(folder),
                         (file + " is not what this program writes: mend it, or remove it").c_str(), Error);
  }
  write_file(file, R"({"cases": [3, 5], "said": {"Why?": {"option": "a", "right": false}}})");
  Progress progress = fresh(folder);
  CHECK(progress.cases() == "3 of 5 cases");
  progress.forget_cases();
  CHECK(progress.cases().empty());
}

}  // namespace gradus::learn
