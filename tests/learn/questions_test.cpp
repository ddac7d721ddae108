#include "learn/program/questions.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
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
      .choices = {{.ask = "Why?", .options = {{"a", "no", false}, {"b", "yes", true}, {"c", "no", false}}}},
      .answers = {}};
}

Progress fresh(const test::ScratchFolder& folder) {
  Exercise exercise;
  exercise.name = "11_layer_norm";
  return Progress(exercise, folder.path());
}

Questions hand_answers() {
  return {.predictions = {},
          .choices = {},
          .answers = {{2, "", "nats", 1.386, 0.01, "log 4 = 1.386"}, {3, "C = 10", "", 1790, 0, "1790"}}};
}

std::string answered(Progress& progress, const std::string& typed, int right) {
  std::istringstream in(typed);
  std::ostringstream out;
  ask_answers(hand_answers(), progress, in, out);
  CHECK(right_answers(hand_answers(), progress) == right);
  return out.str();
}

/// Whether a page has an exercise of this number, with an answer.
bool is_answered(const std::string& page, int exercise) {
  const std::size_t exercises = page.find("\n## Exercises"),
                    from = page.find(fmt::format("\n{}. ", exercise), exercises),
                    to = page.find(fmt::format("\n{}. ", exercise + 1), from);
  return exercises != std::string::npos && from != std::string::npos &&
         page.substr(from, to - from).find("<summary>Answer</summary>") != std::string::npos;
}

std::string asked(const Questions& questions, Progress& progress, const std::string& typed) {
  std::istringstream in(typed);
  std::ostringstream out;
  ask(questions, progress, in, out);
  return out.str();
}

}  // namespace

TEST_CASE("questions: every chapter's are complete, and its program prints the answers") {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_file("examples/course"))) {
    if (!std::filesystem::exists(entry.path() / "questions.json")) continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Questions questions = questions_of(entry.path());
    CHECK_FALSE(questions.predictions.empty());
    CHECK_FALSE(questions.choices.empty());
    const std::string output = text_of(entry.path() / "expected.txt");
    for (const std::string& words : problems_of(questions, output)) FAIL_CHECK(words);
    for (const HandAnswer& a : questions.answers)
      CHECK_MESSAGE(is_answered(text_of(test::source_file("docs/course/" + name + "/README.md")), a.exercise),
                    a.key(), " is no exercise of the page, or has no answer there");
  }
}

TEST_CASE("questions: the right option of a choice cannot be told by its length") {
  int all = 0, longest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_file("examples/course")))
    for (const Choice& c : questions_of(entry.path()).choices) {
      const auto shorter = [](const Option& a, const Option& b) { return a.text.size() < b.text.size(); };
      ++all;
      longest += std::max_element(c.options.begin(), c.options.end(), shorter)->right;
    }
  CHECK_MESSAGE(2 * longest <= all, "in ", longest, " of ", all,
                " choices the right option is the longest: give others a reason that sounds as good");
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
  CHECK(text.find("Type a number, such as 2.5") != std::string::npos);
  CHECK(text.find("Yes: it prints loss 2.08. So much.") != std::string::npos);
  CHECK(text.find("Type a number from 1 to 3 alone") != std::string::npos);
  CHECK(progress.said("Why?").at("right") == false);  // the first word counts
  CHECK(asked(questions, progress, "3\n").empty());

  const Progress again = fresh(folder);
  Calibration calibration;
  add(calibration, questions, again);
  CHECK(calibration.words() ==
        "Predictions: 1 of 1 in the band, 90% sure on average: well calibrated. Calibration 99 of 100.");
}

TEST_CASE("questions: an answer to an exercise of the page is judged, and asked for until it is right") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  const std::string text = answered(progress, "1.4 nats\n1.4\n1780\n", 0);
  CHECK(text.find("Exercise 2 of the page (nats)\n  > ") == 0);
  CHECK(text.find("Type a number alone, such as 2.5") != std::string::npos);
  CHECK(text.find("Wrong. The solution is shown after the second try.") != std::string::npos);
  CHECK(text.find("1.386") == std::string::npos);
  CHECK(text.find("Exercise 3 of the page: C = 10\n") != std::string::npos);
  CHECK(fresh(folder).said("exercise 2").at("number") == 1.4);
  CHECK(fresh(folder).said("exercise 3: C = 10").at("right") == false);

  CHECK(answered(progress, "1.3\n\n", 0).find("Wrong. log 4 = 1.386") != std::string::npos);
  CHECK(answered(progress, "1.39\n\n", 1).find("Right. log 4 = 1.386") != std::string::npos);
  CHECK(answered(progress, "1790.001\n", 1).find("Exercise 2") == std::string::npos);  // it was right
  CHECK(answered(progress, "۱۷۹۰", 2).find("Right. 1790") != std::string::npos);
  CHECK(answered(progress, "5\n", 2).empty());
  Calibration calibration;
  add(calibration, hand_answers(), progress);  // these are no predictions
  CHECK(calibration.asked == 0);
}

TEST_CASE("questions: what is wrong with the answers to exercises is found") {
  CHECK(problems_of(hand_answers(), "").empty());
  const auto wrong = [](auto change) {
    Questions questions = hand_answers();
    change(questions.answers);
    return problems_of(questions, "").size();
  };
  CHECK(wrong([](auto& a) { a[0].how = "log 4 = 1.4"; }) == 1);
  CHECK(wrong([](auto& a) { a[0].within = 2; }) == 1);
  CHECK(wrong([](auto& a) { a[1].within = -1; }) == 1);
  CHECK(wrong([](auto& a) { a.push_back(a[1]); }) == 2);
}

TEST_CASE("questions: what was said is saved at once, and a % is explained where it is the unit") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  Questions questions = some_questions();
  questions.predictions[0].unit = "%";
  const std::string text = asked(questions, progress, "2%\n2\n");  // the choice is not answered
  CHECK(text.find("Write the number without %: 5, or 5 80%") != std::string::npos);
  CHECK(fresh(folder).said("How much?").at("number") == 2);
  CHECK(asked(questions, progress, "۲\n").find("Yes.") != std::string::npos);
}

TEST_CASE("questions: 60,000 typed digits are no answer, and a line without an end is an error") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  const std::string digits(60'000, '1');
  const std::string text =
      asked(some_questions(), progress, digits + "\n2\n" + digits + "\n2 or so\n1.9\n2\n");
  CHECK(text.find("Type a number, such as 2.5") != std::string::npos);
  CHECK(progress.said("How much?").at("number") == 2);
  CHECK(text.find("Type a number from 1 to 3 alone") != std::string::npos);
  CHECK(progress.said("Why?").at("option") == "b");

  const test::ScratchFolder other;
  Progress none = fresh(other);
  std::ifstream zeros("/dev/zero");
  std::ostringstream out;
  CHECK_THROWS_WITH_AS(ask(some_questions(), none, zeros, out),
                       "the input has a line of more than 1048576 bytes, expects an answer on each", Error);
}

TEST_CASE("questions: a power of 2 may be typed for its exponent") {
  const test::ScratchFolder folder;
  Progress progress = fresh(folder);
  Questions questions = some_questions();
  questions.predictions[0].unit = "exponent of 2";
  asked(questions, progress, "2^-5 70%\n");
  CHECK(progress.said("How much?").at("number") == -5);
  CHECK(progress.said("How much?").at("sure") == 0.7);
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
      "Predictions: 0 of 1 in the band, 100% sure on average: more sure than right. Calibration 0 of 100.");
  const test::ScratchFolder other;
  Progress changed = fresh(other);  // by hand: the answer to another kind of question
  changed.say(some_questions().predictions[0].ask, {{"number", 5}, {"right", true}});
  Calibration none;
  add(none, some_questions(), changed);
  CHECK(none.asked == 0);
}

}  // namespace gradus::learn
