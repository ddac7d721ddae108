// Errors; the checks in tests/debugging run a program with debug information.

#include "gradus/core/error.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/detail/platform.h"
#include "gradus/core/io/npy.h"
#include "gradus/core/tape/scope.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;

namespace {

/// Errors record their calls during its lifetime.
struct Recording {
  Recording() { set_error_backtrace(true); }
  ~Recording() { set_error_backtrace(false); }
};

/// This file has debug information (CMakeLists.txt): where the system can tell lines, the error has them.
void check_lines(const std::string& text) {
  const bool known =
      &platform::system() != &platform::plain && std::system("command -v addr2line >/dev/null 2>&1") == 0;
  INFO(text);
  CHECK((text.find("error_test.cpp:") != text.npos) == known);
}

}  // namespace

TEST_CASE("error: calls are recorded if requested") {
  CHECK_FALSE(error_backtrace());
  const Error before("before");
  {
    const Recording recording;
    CHECK(error_backtrace());
    CHECK(before.backtrace().empty());
    const Error error("now"), copy = error;
    check_lines(error.backtrace());
    CHECK(copy.backtrace() == error.backtrace());
    CHECK(copy.what() == std::string("now"));
    CHECK(ErrorCalls::none("ahead of time").backtrace().empty());
  }
  CHECK_FALSE(error_backtrace());
  CHECK(Error("after").backtrace().empty());
}

TEST_CASE("child: throw an error that nobody catches" * doctest::skip()) {
  std::thread([] { throw Error("nobody's"); }).join();
}

TEST_CASE("error: an uncaught one prints its calls, if they are recorded") {
  const auto says = [](const std::string& wish) {
    return test::output_of_child("GRADUS_BACKTRACE=" + wish, "child: throw an error that nobody catches")
               .find("uncaught exception:\n") != std::string::npos;
  };
  CHECK(says("1"));
  CHECK_FALSE(says("0"));
}

TEST_CASE("error: wrong input has the message of an error, and no lines") {
  const Recording recording;
  const char* const given = std::getenv("GRADUS_BACKTRACE");
  const Scope inside(intern("some.module"));
  try {
    fail_input("--out: is full");
  } catch (const Error& error) {
    CHECK(error.what() == std::string("--out: is full (in some.module)"));
    if (!given) CHECK(error.backtrace().empty());
  }
  try {
    load_npy("/dev/null/none.npy");
  } catch (const Error& error) {
    CHECK(error.what() != std::string());
    if (!given) CHECK(error.backtrace().empty());
  }
}

TEST_CASE("error: an exception of another thread is rethrown unchanged") {
  const Recording recording;
  for (const bool on : {true, false}) {
    set_error_backtrace(on);
    CHECK_THROWS_WITH_AS(ErrorCalls::rethrow(std::make_exception_ptr(Error("theirs"))), "theirs", Error);
    CHECK_THROWS_WITH_AS(ErrorCalls::rethrow(std::make_exception_ptr(std::runtime_error("other"))), "other",
                         std::runtime_error);
    CHECK_THROWS_AS(ErrorCalls::rethrow(std::make_exception_ptr(7)), int);
  }
  set_error_backtrace(true);
  try {
    ErrorCalls::rethrow(std::make_exception_ptr(ErrorCalls::input("no such file")));
  } catch (const Error& error) {
    CHECK(ErrorCalls::is_input(error));  // it gets no calls of this thread
  }
  CHECK_FALSE(ErrorCalls::is_input(ErrorCalls::none("ahead of time")));
}

TEST_CASE("error: calls, if the system supports them") {
  CHECK(platform::plain.calls().empty());
  const int here = 0;
  const std::vector<const void*> nothing = {nullptr, &here,
                                            reinterpret_cast<const void*>(std::uintptr_t{16})};
  CHECK(platform::plain.source_lines(nothing).empty());
  CHECK(platform::system().source_lines(nothing).empty());
  CHECK(platform::system().source_lines({}).empty());
  const std::vector<const void*> calls = platform::system().calls();
  CHECK(calls.empty() == (&platform::system() == &platform::plain));
  CHECK(calls.size() <= 256);
}

TEST_CASE("error: an error while calls are recorded") {
  // Recording asks for the platform, whose name is wrong, which is an Error, whose calls would be recorded.
  const std::string output = test::output_of_child("GRADUS_PLATFORM=none GRADUS_BACKTRACE=1", "none");
  CHECK(output.find("GRADUS_PLATFORM: expected plain, got 'none'") != output.npos);
}
