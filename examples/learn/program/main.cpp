// Exercises that grade themselves: docs/exercises.md.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "gradus/core/check.h"
#include "gradus/core/error.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/program.h"
#include "learn/program/fold.h"
#include "learn/program/forbidden.h"
#include "learn/program/grade_answer.h"
#include "learn/program/questions.h"

namespace fs = std::filesystem;
using namespace gradus;
using namespace gradus::learn;

namespace {

struct Options {
  std::string exercise, language;
  bool reset = false, ask = false, hint = false, answers = false;
  double limit = 10;
  fs::path folder = fs::path(GRADUS_SOURCE_FOLDER) / "my";
};

std::vector<Exercise> all_exercises(const Options& options) {
  const fs::path source = GRADUS_SOURCE_FOLDER;
  return exercises(source / "examples/course", language_folder(source / "docs/languages", options.language));
}

void list(const Options& options, const std::vector<Exercise>& all) {
  int done = 0;
  std::string next;
  Calibration calibration;
  for (const Exercise& one : all) {
    const Progress progress(one, options.folder);
    kit::print(
        fmt::format("  {:<23} {:<56} {}\n", one.name, one.words(one.title), progress.cases(one.words)));
    if (!progress.done() && next.empty()) next = one.typed();
    done += progress.done();
    add(calibration, questions_of(one.folder), progress);
  }
  const Catalogue& words = all.front().words;  // the program's phrases are the same in all of them
  kit::print(words.phrase("{done} of {all} done.", fmt::arg("done", done), fmt::arg("all", all.size())));
  if (!next.empty())
    kit::print(" " + words.phrase("Next: ./run learn {exercise}", fmt::arg("exercise", next)));
  kit::print("\n");
  if (calibration.asked > 0) kit::print(folded(calibration.words(words)) + "\n");
}

/// The path of the learner's file, relative if that is shorter.
std::string shown(const fs::path& path) {
  const std::string relative = path.lexically_proximate(fs::current_path()).string();
  return relative.starts_with("..") ? path.string() : relative;
}

/// The hints so far and the next one.
int show_hints(const Exercise& exercise, Progress& progress) {
  const std::size_t count = std::min(progress.hints() + 1, exercise.hints.size());
  progress.set_hints(count);
  kit::print(fmt::format("{}. {}\n", exercise.number, exercise.words(exercise.title)));
  for (std::size_t i = 0; i < count; ++i)
    kit::print("\n" +
               folded(exercise.words.phrase("Hint {i} of {all}:", fmt::arg("i", i + 1),
                                            fmt::arg("all", exercise.hints.size())) +
                      " " + exercise.words(exercise.hints[i])) +
               "\n");
  return 0;
}

/// Asks for the answers to the page's exercises, and tells how many are right.
int check_answers(const Exercise& exercise, Progress& progress) {
  const Questions questions = questions_of(exercise.folder);
  const Catalogue& words = exercise.words;
  const int all = static_cast<int>(questions.answers.size());
  if (all == 0)
    fail_input_with("--answers: no exercise on the page of chapter {} asks for a number", exercise.number);
  kit::print(fmt::format("{}. {}\n", exercise.number, words(exercise.title)));
  const std::string page = "docs/course/" + exercise.name + "/README.md";
  const std::string asks = words.phrase(
      "What did you get in the exercises of {page}? Enter skips a question; a wrong answer is asked for "
      "again next time.",
      fmt::arg("page", page));
  kit::print(folded(asks) + "\n\n");
  ask_answers(questions, progress, std::cin, std::cout, words);
  const int right = right_answers(questions, progress);
  kit::print(
      words.phrase("Right answers: {right} of {all}.", fmt::arg("right", right), fmt::arg("all", all)) +
      "\n");
  return right == all ? 0 : 1;
}

int work_on(const Options& options, const std::vector<Exercise>& all) {
  const Exercise& exercise = find(all, options.exercise);
  const Catalogue& words = exercise.words;
  Progress progress(exercise, options.folder);
  if (options.hint) return show_hints(exercise, progress);
  if (options.answers) return check_answers(exercise, progress);
  const std::string file = shown(progress.answer()), typed = exercise.typed();
  const auto its_file = fmt::arg("file", file);
  const auto its_number = fmt::arg("exercise", typed);
  if (const auto copy = place_stub(exercise, progress, options.reset))
    kit::print(words.phrase("Your old file is now {file}.", fmt::arg("file", shown(*copy))) + "\n");
  const std::string code = text_of(progress.answer()), stub = text_of(exercise.folder / "stub.h");
  if (code == stub) progress.forget_cases();
  kit::print(fmt::format("{}. {}\n\n", exercise.number, words(exercise.title)));

  const Questions questions = questions_of(exercise.folder);
  if (options.ask || isatty(STDIN_FILENO) != 0) ask(questions, progress, std::cin, std::cout, words);

  const auto forget = [&] {
    progress.forget_cases();
    return 1;
  };
  if (code == stub) {
    for (const std::string& paragraph : explanation(stub))
      if (words(paragraph) != paragraph) kit::print(folded(words(paragraph)) + "\n\n");
    kit::print(words.phrase("The task is in {file}", its_file) + "\n");
    kit::print(words.phrase("Write your code there, then run ./run learn {exercise} again.", its_number) +
               "\n");
    return 0;
  }
  if (const std::vector<std::string> found = forbidden_in(code, exercise); !found.empty()) {
    kit::print(words.phrase("{file} uses forbidden names:", its_file) + "\n");
    for (const std::string& one : found) kit::print("  " + one + "\n");
    return forget();
  }
  const auto result = grade_answer(exercise, progress.answer(), options.limit);
  if (!result) return forget();
  progress.set_cases(result->first, result->second);
  kit::print(words.phrase("{passed} of {all} cases passed.", fmt::arg("passed", result->first),
                          fmt::arg("all", result->second)) +
             "\n");
  if (!progress.done()) {
    kit::print(words.phrase("Change {file} and run ./run learn {exercise} again.", its_file, its_number) +
               "\n");
    return 1;
  }
  kit::print("\n" + folded(words(exercise.note)) + "\n");
  Calibration calibration;
  add(calibration, questions, progress);
  if (calibration.asked > 0) kit::print(folded(calibration.words(words)) + "\n");
  if (right_answers(questions, progress) < static_cast<int>(questions.answers.size()))
    kit::print(words.phrase("Next, the exercises of the page: ./run learn {exercise} --answers checks their "
                            "numbers.",
                            its_number) +
               "\n");
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc > 1 && argv[1][0] != '-') {
    options.exercise = argv[1];
    arguments.erase(arguments.begin() + 1);
  }
  kit::CommandLine line(
      "learn",
      "Exercises that grade themselves: learn lists them, learn 11 puts the stub of exercise 11 into your\n"
      "folder or grades what you have written there.");
  line.flag("--reset", options.reset, "Start over; your old file is kept under another name");
  line.flag("--hint", options.hint, "Show the next of three hints: the idea, the equation, the line");
  line.flag("--answers", options.answers, "Check your numbers in the other exercises of the chapter's page");
  line.flag("--ask", options.ask, "Ask the questions even if the input is not a terminal");
  line.real("--limit", options.limit, "Seconds that a case may take", {0, 3600, true});
  line.text("--language", options.language, "Language, instead of the system's: en, fa, pt, tr, zh");
  line.path("--folder", options.folder, "Folder of your files");
  if (const auto status = line.parse(static_cast<int>(arguments.size()), arguments.data())) return *status;
  if (options.hint && (options.reset || options.ask))
    fail_input("--hint goes with neither --reset nor --ask: run these by themselves");
  if (options.answers && (options.reset || options.hint || options.ask))
    fail_input("--answers goes with none of --reset, --hint and --ask: run these by themselves");
  const std::vector<Exercise> all = all_exercises(options);
  for (const auto& [from, to] : renumber(all, options.folder))
    kit::print(all.front().words.phrase("{old} is now {file}.", fmt::arg("old", shown(from)),
                                        fmt::arg("file", shown(to))) +
               "\n");
  if (!options.exercise.empty()) return work_on(options, all);
  if (options.reset) fail_input("--reset expects the number of an exercise: ./run learn 11 --reset");
  if (options.hint) fail_input("--hint expects the number of an exercise: ./run learn 11 --hint");
  if (options.ask) fail_input("--ask expects the number of an exercise: ./run learn 11 --ask");
  if (options.answers) fail_input("--answers expects the number of a chapter: ./run learn 11 --answers");
  list(options, all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return kit::run_program("learn", [&] { return run(argc, argv); });
}
