#include "gradus/kit/program/program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "gradus/kit/data/files.h"
#include "gradus/kit/program/progress.h"
#include "in_child.h"
#include "support.h"

using namespace gradus;

namespace {

/// The output of a child to this stream.
template <class F>
std::string written_to(int stream, const F& f) {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "written";
  CHECK(test::in_child([&] {
          dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), stream);
          f();
          return 0;
        }) == 0);
  return kit::read_file(path);
}

}  // namespace

TEST_CASE("print_text and print_error write nothing that controls a terminal, print writes text unchanged") {
  const std::string text = "a\x1b]0;title\x07\x9b\u202e\u009b\r\n\tb\n";
  const std::string safe = "a\uFFFD]0;title\uFFFD\uFFFD\uFFFD\uFFFD\r\n\tb\n";
  CHECK(written_to(STDOUT_FILENO, [&] { kit::print_text(text); }) == safe);
  CHECK(written_to(STDERR_FILENO, [&] { kit::print_error(text); }) == safe);
  CHECK(written_to(STDOUT_FILENO, [&] { kit::print(text); }) == text);
}

TEST_CASE("be_silent: nothing is written, and the exit status stays") {
  const auto silent = [] {
    kit::be_silent();
    kit::print("a\n");
    kit::print_text("b\n");
    kit::print_error("c\n");
    kit::Progress("d", 1).finish();
    CHECK(kit::run_program("p", []() -> int { throw std::runtime_error("e"); }) == 1);
  };
  CHECK(written_to(STDOUT_FILENO, silent) == "");
  CHECK(written_to(STDERR_FILENO, silent) == "");
}

TEST_CASE("run_program: an exception's message reaches stderr without what controls a terminal") {
  const auto fails = [] {
    kit::run_program("p", [&]() -> int { throw std::runtime_error("no \x1b[2Jfile"); });
  };
  CHECK(written_to(STDERR_FILENO, fails) == "p: no \uFFFD[2Jfile\n");
}
