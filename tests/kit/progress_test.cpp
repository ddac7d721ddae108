#include "gradus/kit/program/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "gradus/core/error.h"
#include "gradus/kit/program/detail/progress_output.h"

using namespace gradus::kit;

namespace {

// A terminal of any width (0: none) whose clock the test moves.
struct FakeScreen {
  std::string text;
  double now = 0;
  int columns = 0;
  ProgressOutput output() {
    return {[this](std::string_view more) { text += more; }, [this] { return now; },
            [this] { return columns; }};
  }
  std::size_t count(char wanted) const {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
  }
};

}  // namespace

TEST_CASE("a bar shows share, time left and detail") {
  FakeScreen screen{.text = {}, .now = 0, .columns = 60};
  Progress progress("train", 100, screen.output());
  screen.now = 10;
  progress.update(25, "loss 2.1");
  CHECK(screen.text == "\rtrain  [=====>                 ]   25%  30 s left  loss 2.1\x1b[K");
}

TEST_CASE("a bar never reaches the edge, at any width") {
  for (int columns = 1; columns < 120; ++columns) {
    FakeScreen screen{.text = {}, .now = 0, .columns = columns};
    Progress progress("label", 10, screen.output());
    screen.now = 1;
    progress.update(3, "d\xC3\xA9tail");
    const std::size_t visible = screen.text.size() - std::string("\r\x1b[K").size();
    CHECK(visible <= static_cast<std::size_t>(columns) - 1);
    CHECK(screen.text.find("\xC3\x1b") == std::string::npos);  // no half character
  }
}

TEST_CASE("a bar is drawn at most ten times a second") {
  FakeScreen screen{.text = {}, .now = 0, .columns = 80};
  {
    Progress progress("x", 1000, screen.output());
    for (int i = 1; i <= 1000; ++i) {
      screen.now = i * 0.001;
      progress.update(i);
    }
    CHECK(screen.count('\r') >= 9);
    CHECK(screen.count('\r') <= 11);
    CHECK(screen.count('\n') == 0);
  }
  CHECK(screen.count('\n') == 1);  // the destructor leaves the cursor on a line of its own
}

TEST_CASE("without a terminal there are occasional plain lines") {
  FakeScreen screen;
  Progress progress("train", 600, screen.output());
  for (int i = 1; i <= 600; ++i) {
    screen.now = i;
    progress.update(i);
  }
  CHECK(screen.text.starts_with("train    0%  9 min 55 s left\n"));  // after 5 s
  CHECK(screen.count('\n') >= 9);
  CHECK(screen.count('\n') <= 12);
  CHECK(screen.count('\r') == 0);
  CHECK(screen.count('\x1b') == 0);
}

TEST_CASE("a short job prints only its result") {
  FakeScreen screen;
  Progress progress("train", 10, screen.output());
  for (int i = 1; i <= 10; ++i) {
    screen.now = i * 0.4;
    progress.update(i);
  }
  progress.finish("loss 1.9");
  progress.finish("again");
  progress.update(3);
  CHECK(screen.text == "train  done in 4.0 s  loss 1.9\n");
}

TEST_CASE("a job that ends early shows the share done") {
  FakeScreen screen;
  Progress progress("train", 750, screen.output());
  screen.now = 1.1;
  progress.update(125);
  progress.finish("loss 1.9");
  CHECK(screen.text == "train  ended at 16% after 1.1 s  loss 1.9\n");
}

TEST_CASE("notes are above the bar") {
  FakeScreen screen{.text = {}, .now = 0, .columns = 40};
  Progress progress("t", 10, screen.output());
  screen.now = 1;
  progress.update(5);
  screen.text.clear();
  progress.note("run 3 diverged");
  CHECK(screen.text == "\r\x1b[Krun 3 diverged\n");
  screen.text.clear();
  progress.note("two\nlines, \x1b[2J");
  CHECK(screen.text == "two\nlines, \uFFFD[2J\n");
  progress.update(6);  // the bar comes back at once
  CHECK(screen.text.find("60%") != std::string::npos);
}

TEST_CASE("an empty job is done") {
  FakeScreen screen{.text = {}, .now = 0, .columns = 80};
  Progress progress("t", 0, screen.output());
  progress.update(0);
  CHECK(screen.text.find("100%  0 s left") != std::string::npos);
}

TEST_CASE("a label or detail stays on its line") {
  FakeScreen screen{.text = {}, .now = 0, .columns = 80};
  Progress progress("a\n\x1b[2J", 4, screen.output());
  screen.now = 1;
  progress.update(1, "b\r\n\xFF gr\u00F6\u00DFer");
  CHECK(screen.text.starts_with("\ra??[2J  ["));
  CHECK(screen.text.ends_with("  b??? gr\u00F6\u00DFer\x1b[K"));
  screen.text.clear();
  progress.finish("c\nd");
  CHECK(screen.text == "\r\x1b[Ka??[2J  ended at 25% after 1.0 s  c?d\n");
}

TEST_CASE("a total that is not finite is rejected") {
  FakeScreen screen;
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(Progress("t", std::numeric_limits<double>::quiet_NaN(), screen.output()),
                       "Progress: expects a finite total, got nan", gradus::Error);
  CHECK_THROWS_AS(Progress("t", inf, screen.output()), gradus::Error);
}
