#include "gradus/kit/chart/detail/svg.h"

#include <doctest/doctest.h>

using namespace gradus::kit;

TEST_CASE("text is escaped") {
  CHECK(escaped("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
  CHECK(escaped(std::string_view("\x01\0", 2)) == "\uFFFD\uFFFD");
  CHECK(escaped("\xff\xC3\xA9") == "\uFFFD\u00E9");
  CHECK(escaped("tab\tline\n") == "tab\tline\n");
}

TEST_CASE("coordinates are short") {
  CHECK(coordinate(3) == "3");
  CHECK(coordinate(-0.04) == "0");
  CHECK(coordinate(0.5) == ".5");
  CHECK(coordinate(-0.5) == "-.5");
  CHECK(coordinate(12.34) == "12.3");
  CHECK(coordinate(1e30) == "10000000");
}

TEST_CASE("a path's steps do not accumulate rounding errors") {
  PathData path;
  path.move_to(10, 10).line_to(10.44, 9).line_to(10.88, 9).line_to(11.32, 8.5);
  CHECK(path.text() == "m10 10l.4-1 .5 0 .4-.5");
  path.move_to(0, 0);
  CHECK(path.text() == "m10 10l.4-1 .5 0 .4-.5m-11.3-8.5");
}

TEST_CASE("after closing, a path continues from its start") {
  PathData path;
  path.move_to(5, 5).line_to(10, 5).line_to(10, 10).close().move_to(6, 5);
  CHECK(path.text() == "m5 5l5 0 0 5zm1 0");
}

TEST_CASE("lines are filled, balanced and never lose a word") {
  CHECK(wrapped("short", 10, 100) == std::vector<std::string>{"short"});
  CHECK(wrapped("", 10, 100).empty());
  const auto lines = wrapped("one two three four five six seven", 10, 120);
  CHECK(lines.size() == 2);
  CHECK(lines[0] + " " + lines[1] == "one two three four five six seven");
  for (const std::string& line : lines) CHECK(text_width(line, 10) <= 120);
  CHECK(text_width(lines[1], 10) > 60);
  // A word is broken only where it would leave the drawing, and never in the middle of a character.
  CHECK(wrapped("a verylongword", 10, 70) == std::vector<std::string>{"a", "verylongword"});
  CHECK(wrapped("averylongword x", 10, 31) == std::vector<std::string>{"avery", "longw", "ord x"});
  CHECK(wrapped("\u00E9\u00E9\u00E9", 10, 13) == std::vector<std::string>{"\u00E9\u00E9", "\u00E9"});
  CHECK(wrapped("mm", 10, 1) == std::vector<std::string>{"m", "m"});
}
