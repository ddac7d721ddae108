#include "docs/markdown.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace {

docs::Lines lines(const char* text) { return docs::split_lines(text); }

TEST_CASE("quotes are found with their blocks") {
  const auto quotes =
      docs::find_quotes(lines("# A page\n<!-- snippet: a.cpp#views -->\n```cpp\nx\ny\n```\ntext\n<!-- "
                              "output: 01_a lines 2-3 -->\n```\nz\n```\n"));
  REQUIRE(quotes.size() == 2);
  CHECK_FALSE(quotes[0].is_output);
  CHECK(quotes[0].source == "a.cpp");
  CHECK(quotes[0].region == "views");
  CHECK(quotes[0].line == 2);
  CHECK(quotes[0].begin == 3);
  CHECK(quotes[0].end == 5);
  CHECK(quotes[1].is_output);
  CHECK(quotes[1].source == "01_a");
  CHECK(quotes[1].first == 2);
  CHECK(quotes[1].last == 3);
}

TEST_CASE("a comment shown inside a block is not a quote") {
  CHECK(docs::find_quotes(lines("```\n<!-- snippet: a.cpp -->\n```\n")).empty());
}

TEST_CASE("a quote in a list has an indentation") {
  const auto quotes =
      docs::find_quotes(lines("1. a\n\n   <!-- output: 01_a lines 2-3 -->\n   ```\n   z\n   ```\n"));
  REQUIRE(quotes.size() == 1);
  CHECK(quotes[0].indent == "   ");
  CHECK(quotes[0].begin == 4);
  CHECK(quotes[0].end == 5);
}

TEST_CASE("comments that are not understood are errors") {
  CHECK_THROWS_AS(docs::find_quotes(lines("<!-- snippet a.cpp -->\n```\n```\n")), std::runtime_error);
  CHECK_THROWS_AS(docs::find_quotes(lines("<!-- output: a lines 3-2 -->\n```\n```\n")), std::runtime_error);
  CHECK_THROWS_AS(docs::find_quotes(lines("<!-- snippet: a.cpp -->\n\n```\n```\n")), std::runtime_error);
  CHECK_THROWS_AS(docs::find_quotes(lines("<!-- snippet: a.cpp -->\n```\nx\n")), std::runtime_error);
}

TEST_CASE("a region loses its indentation and inner marks") {
  const auto file = lines(
      "int main() {\n  // [outer]\n  f();\n  // [inner]\n  if (x)\n\n    g();\n  // [/inner]\n  // "
      "[/outer]\n}\n");
  CHECK(docs::region(file, "outer") == docs::Lines{"f();", "if (x)", "", "  g();"});
  CHECK(docs::region(file, "inner") == docs::Lines{"if (x)", "", "  g();"});
  CHECK(docs::region(file, "").size() == 6);
  CHECK_THROWS_AS(docs::region(file, "missing"), std::runtime_error);
  CHECK_THROWS_AS(docs::region(lines("// [open]\nx\n"), "open"), std::runtime_error);
}

TEST_CASE("a table is drawn from the rows of a region") {
  const auto table = docs::rows(
      lines("// py: a | b\ngives(f(a,\n        b), \"[1, 2]\");\n// py: g()\n// note: words\ng({\n  1});\n"
            "CHECK(x);\nmore();\n// py: h()\n// here: not here\n"));
  CHECK(table == docs::Lines{"| PyTorch | here |", "|---|---|", "| `a \\| b` | `f(a, b)` |",
                             "| `g()` | `g({ 1});`; words |", "| `h()` | not here |"});
  CHECK_THROWS_AS(docs::rows(lines("f();\n")), std::runtime_error);
  CHECK_THROWS_AS(docs::rows(lines("// py: f()\n// py: g()\ng();\n")), std::runtime_error);
}

TEST_CASE("the lines of a table under its comment are a quote") {
  const auto quotes =
      docs::find_quotes(lines("<!-- rows: a.cpp#b -->\n| x |\n|---|\n\n<!-- rows: a.cpp#c -->\n"));
  REQUIRE(quotes.size() == 2);
  CHECK(quotes[0].is_rows);
  CHECK(quotes[0].region == "b");
  CHECK(quotes[0].begin == 1);
  CHECK(quotes[0].end == 3);
  CHECK(quotes[1].begin == 5);
  CHECK(quotes[1].end == 5);
  CHECK_THROWS_AS(docs::find_quotes(lines("<!-- rows: a.cpp -->\n")), std::runtime_error);
}

TEST_CASE("links are found outside of code") {
  const auto links =
      docs::find_links(lines("[a](one.md) ![b](two.svg \"title\") `[no](no.md)`\n```\n[no](no.md)\n```\n<img "
                             "src=\"three.svg\">\n[ref]: four.md\n"));
  REQUIRE(links.size() == 4);
  CHECK(links[0].target == "one.md");
  CHECK(links[1].target == "two.svg");
  CHECK(links[2].target == "three.svg");
  CHECK(links[3].target == "four.md");
  CHECK(links[3].line == 6);
}

TEST_CASE("anchors are GitHub's") {
  CHECK(docs::anchors(lines("<a id=\"claim-13\"></a>\n### 13. Less\n")) ==
        std::vector<std::string>{"claim-13", "13-less"});
  CHECK(docs::anchors(lines("# The tape, `record()`\n## Twice\n## Twice\n```\n# code\n```\n")) ==
        docs::Lines{"the-tape-record", "twice", "twice-1"});
}

}  // namespace
