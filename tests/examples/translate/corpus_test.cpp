#include "translate/corpus.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"
#include "toy.h"

namespace gradus::translate {

namespace {

using Lines = std::vector<std::string>;
using namespace std::string_literals;

// Python: gzip.compress(b"ein Hund\nzwei\n"), gzip.compress(b"drei\n")
const std::string two_lines =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\xcd\xcc\x53\xf0\x28\xcd\x4b\xe1\xaa\x2a\x4f\xcd\xe4\x02\x00\x53\x10\x7a\x64\x0e\x00\x00\x00"s;
const std::string one_line =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x29\x4a\xcd\xe4\x02\x00\xbc\x7e\x50\x71\x05\x00\x00\x00"s;

struct TwoFiles {
  test::ScratchFolder folder;
  Files files{.source = folder / "a.de", .target = folder / "b.en"};

  TwoFiles(const std::string& source, const std::string& target) {
    kit::replace_file(files.source, source);
    kit::replace_file(files.target, target);
  }
  Corpus read() const { return read_corpus(files); }
  /// What reading says, without the folder.
  std::string complaint() const {
    std::string text = complaint_of([&] { read(); });
    for (std::size_t at; (at = text.find(folder.path().string() + "/")) != std::string::npos;)
      text.erase(at, folder.path().string().size() + 1);
    return text;
  }
};

}  // namespace

TEST_CASE("lines: with and without a last newline, of Windows too, and letters that are not ASCII") {
  CHECK(lines_of("a\nb\n", "x") == Lines{"a", "b"});
  CHECK(lines_of("a\r\n\r\nb", "x") == Lines{"a", "", "b"});
  CHECK(lines_of("\n", "x") == Lines{""});
  CHECK(lines_of("Größe\n\u2028\U0001F600", "x") == Lines{"Größe", "\u2028\U0001F600"});
  CHECK(complaint_of([] { lines_of("", "x"); }) == "x: is empty: expects one sentence per line");
  CHECK(complaint_of([] {
          lines_of(
              "a\nGr\xf6\xdf"
              "e\n",
              "x");
        }) == "x: line 2 is not UTF-8: convert it, with iconv for example");
  CHECK(lines_of("\xEF\xBB\xBF"
                 "a\nb",
                 "x") == std::vector<std::string>{"a", "b"});
  CHECK(complaint_of([] { lines_of("a\xc3", "x"); }) ==
        "x: line 1 is not UTF-8: convert it, with iconv for example");
}

TEST_CASE("a corpus: plain files and gzip, of several parts too") {
  const Corpus plain = TwoFiles("ein\nzwei\n", "one\ntwo\n").read();
  CHECK(plain.source == Lines{"ein", "zwei"});
  CHECK(plain.target == Lines{"one", "two"});
  const Corpus zipped = TwoFiles(two_lines + one_line, "a dog\ntwo\nthree\n").read();
  CHECK(zipped.source == Lines{"ein Hund", "zwei", "drei"});
  CHECK(zipped.size() == 3);
}

TEST_CASE("a corpus: files that are none, word by word") {
  CHECK(TwoFiles("a\nb\n", "c\n").complaint() ==
        "--source a.de has 2 lines, --target b.en has 1: expects files in which a line and its translation "
        "have "
        "the same number");
  CHECK(TwoFiles("", "c\n").complaint() == "--source: a.de: is empty: expects one sentence per line");
  CHECK(TwoFiles("a\n", "\xff\n").complaint() ==
        "--target: b.en: line 1 is not UTF-8: convert it, with iconv for example");
  TwoFiles missing("a\n", "b\n");
  missing.files = {.prefix = "--val-", .source = missing.folder / "none", .target = missing.files.target};
  CHECK(missing.complaint().starts_with("--val-source: "));
  CHECK(missing.complaint().find("none") != std::string::npos);
}

TEST_CASE("pairs with an empty side go, the others stay in order") {
  Corpus corpus{{"a", " ", "c", "d"}, {"A", "B", "", "D"}};
  CHECK(drop_empty_pairs(corpus) == 2);
  CHECK(corpus.source == Lines{"a", "d"});
  CHECK(corpus.target == Lines{"A", "D"});
}

TEST_CASE("a validation corpus is spread over that of the training") {
  Corpus corpus;
  for (int i = 0; i < 10; ++i) {
    corpus.source.push_back(std::to_string(i));
    corpus.target.push_back(std::to_string(-i));
  }
  const Corpus taken = set_apart(corpus, 3);
  CHECK(taken.source == Lines{"3", "6", "9"});
  CHECK(taken.target == Lines{"-3", "-6", "-9"});
  CHECK(corpus.source == Lines{"0", "1", "2", "4", "5", "7", "8"});
  CHECK(corpus.size() == corpus.target.size());
}

}  // namespace gradus::translate
