#include "gradus/kit/report/html_report.h"

#include <doctest/doctest.h>

#include <regex>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/report/detail/html_text.h"
#include "markup.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;
using gradus::test::count_of;
using gradus::test::flaw_in;

namespace {

LineChart chart_of(int series, int points) {
  LineChart chart{.title = "Loss", .x_label = "step", .y_label = "nats"};
  for (int k = 0; k < series; ++k) {
    Series one{.name = "s" + std::to_string(k)};
    for (int i = 0; i < points; ++i) {
      one.x.push_back(i);
      one.y.push_back(1.0 / (i + 1) + k + 0.013 * ((i * 7919) % 101));
    }
    chart.series.push_back(one);
  }
  return chart;
}

}  // namespace

TEST_CASE("markup becomes HTML and everything else is escaped") {
  CHECK(html_text("a < b & c") == "a &lt; b &amp; c");
  CHECK(html_text("`x<y`") == "<code>x&lt;y</code>");
  CHECK(html_text("**so**") == "<strong>so</strong>");
  CHECK(html_text("**a `b`**") == "<strong>a <code>b</code></strong>");
  CHECK(html_text("[a](https://x.org/?a=1&b=2)") == "<a href=\"https://x.org/?a=1&amp;b=2\">a</a>");
  CHECK(html_text("[a](javascript:x)") == "[a](javascript:x)");
  CHECK(html_text("[a](https://x\" onclick=\"y)").find("onclick=\"") == std::string::npos);
  CHECK(html_text("{blue:a < b}") == "<span class=\"blue\">a &lt; b</span>");
  CHECK(html_text("**{orange:no}**") == "<strong><span class=\"orange\">no</span></strong>");
  for (const char* plain : {"{blue:", "{blue:}", "{pink:a}", "{a}", "f{blue}", "2 * 3 * 4", "an `open", "**",
                            "[x]", "[^]", "[^a]", "[a](", "``"}) {
    CHECK(html_text(plain) == plain);
  }
}

TEST_CASE("columns of numbers are aligned right") {
  const std::string html = html_table(
      {"C", {"name", "loss"}, {{"pre", "1.5"}, {"post", "\u2212"}, {"x", "10\u207B\u00B3"}, {"y", ""}}});
  CHECK(flaw_in(html) == "");
  CHECK(html.find("<th scope=\"col\">name</th><th scope=\"col\" class=\"n\">loss</th>") != std::string::npos);
  CHECK(count_of(html, "<td class=\"n\">") == 4);
}

TEST_CASE("a report is one valid page that fetches nothing") {
  HtmlReport report("Title & more", "Lead with `code`.");
  report.verdict("It **works**", {"first", "second"});
  for (const char* section : {"One", "Two", "Three"}) report.heading(section);
  report.subheading("Sub");
  report.paragraph("Text <b>");
  report.list({"a", "b"});
  report.figure(chart_of(2, 50), "See this.");
  report.figure(
      Panels{.title = "P", .panels = {chart_of(1, 5), chart_of(1, 5), chart_of(1, 5)}, .columns = 3},
      "And this.");
  report.figure(HeatMap{.title = "H", .columns = {"a"}, .rows = {"b"}, .values = {1}}, "And that.");
  report.table({"T", {"x"}, {{"1"}}});
  report.folded_table({"Folded", {"x"}, {{"1"}}});
  report.key_values("Settings", {{"seed", "0"}, {"text", "<file>"}});
  report.list({});
  const std::string page = report.html();

  CHECK(flaw_in(page) == "");
  CHECK(page.find("<title>Title &amp; more</title>") != std::string::npos);
  CHECK(page.find("default-src 'none'; style-src 'unsafe-inline'") != std::string::npos);
  CHECK_FALSE(std::regex_search(page, std::regex("<script|<link|<img|src=|url\\(|@import|<iframe")));
  CHECK(count_of(page, "<figure") == 3);
  CHECK(count_of(page, "<figcaption>") == 3);
  CHECK(count_of(page, "<figure class=\"wide\">") == 1);
  CHECK(count_of(page, "<details>") == 4);
  CHECK(count_of(page, "class=\"figures\"") == 1);  // charts in a row share one grid
  CHECK(count_of(page, "href=\"#section-") == 3);
  for (const char* target : {"section-1", "section-3"}) {
    CHECK(count_of(page, std::string("id=\"") + target + "\"") == 1);
  }
}

TEST_CASE("few sections need no list") {
  HtmlReport report("T", "L");
  report.heading("Only");
  const std::string page = report.html();
  CHECK(flaw_in(page) == "");
  CHECK(page.find("<nav") == std::string::npos);
}

TEST_CASE("a report is saved unchanged") {
  const test::ScratchFolder folder;
  HtmlReport report("T", "L");
  report.paragraph("Words.");
  report.save(folder / "report.html");
  CHECK(read_file(folder / "report.html") == report.html());
  CHECK_THROWS_AS(report.save(folder / "none" / "report.html"), Error);
}

TEST_CASE("a large report stays under 1 MB") {
  HtmlReport report("T", "L");
  const LineChart large = chart_of(6, 20000);
  for (int i = 0; i < 15; ++i) report.figure(large, "Caption.");
  CHECK(report.html().size() < 1000000);
}
