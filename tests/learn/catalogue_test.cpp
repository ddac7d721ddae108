// What an exercise says in another language: .po files, the choice of a language, a stub's explanation.
#include "learn/program/catalogue.h"

#include <doctest/doctest.h>

#include <fstream>

#include "gradus/core/error.h"
#include "learn/program/exercise.h"

using namespace gradus;
using namespace gradus::learn;
namespace fs = std::filesystem;

TEST_CASE("catalogue: a translation in one line or several, none where it is empty, fuzzy or absent") {
  const fs::path file = fs::temp_directory_path() / "gradus_catalogue_test.po";
  std::ofstream(file) << R"(msgid ""
msgstr ""
"Language: tr\n"

# a note
msgid "a \"step\""
msgstr ""
"bir "
"\"adım\"\n"

#, fuzzy
msgid "old"
msgstr "eski"

msgid "empty"
msgstr ""

msgid "last"
msgstr "son")";
  const Catalogue words(file);
  fs::remove(file);
  CHECK(words("a \"step\"") == "bir \"adım\"\n");
  CHECK(words("old") == "old");
  CHECK(words("empty") == "empty");
  CHECK(words("last") == "son");
  CHECK(words("absent") == "absent");
  CHECK(words("") == "");
  CHECK(Catalogue("no such file")("word") == "word");
}

TEST_CASE("catalogue: a phrase has its words in the order of its language") {
  const fs::path file = fs::temp_directory_path() / "gradus_phrase_test.po";
  std::ofstream(file) << "msgid \"{done} of {all}\"\nmsgstr \"{all} {done}\"\n";
  const Catalogue words(file);
  fs::remove(file);
  CHECK(words.phrase("{done} of {all}", fmt::arg("done", 1), fmt::arg("all", 30)) == "30 1");
  CHECK(Catalogue().phrase("{done} of {all}", fmt::arg("done", 1), fmt::arg("all", 30)) == "1 of 30");
}

TEST_CASE("catalogue: the language that is asked for must be there") {
  const fs::path languages = fs::path(GRADUS_SOURCE_FOLDER) / "docs/languages";
  CHECK(language_folder(languages, "tr") == languages / "tr");
  CHECK(language_folder(languages, "en").empty());
  CHECK_THROWS_WITH_AS(language_folder(languages, "xx"),
                       "there is no language 'xx'; there are en, fa, pt, tr, zh", Error);
  for (const char* name : {".", "..", "fa/..", "fa/"})
    CHECK_THROWS_AS(language_folder(languages, name), Error);
}

TEST_CASE("catalogue: an explanation has the prose of the opening comment, without its formulas") {
  const std::string stub =
      "#include \"learn/learn.h\"\n\n// One, in\n// two lines.\n//\n//   y = x\n//\n// Last.\n\n/// Not "
      "this.\nint f();\n";
  CHECK(explanation(stub) == std::vector<std::string>{"One, in two lines.", "Last."});
}

TEST_CASE("catalogue: every paragraph of a stub that has been translated is found again") {
  const fs::path source = GRADUS_SOURCE_FOLDER;
  for (const Exercise& one : exercises(source / "examples/course", source / "docs/languages/tr")) {
    if (one.words(one.title) == one.title) continue;
    CAPTURE(one.name);
    for (const std::string& paragraph : explanation(text_of(one.folder / "stub.h")))
      CHECK_MESSAGE(one.words(paragraph) != paragraph, paragraph);
  }
}
