#include "docs/draw/results_page.h"

#include <fmt/format.h>

#include "docs/draw/practice.h"
#include "lab/claims/ledger.h"
#include "lab/claims/marks.h"
#include "lab/studies/studies.h"

namespace gradus::docs {

namespace {

/// Escapes a text for an attribute in quotes.
std::string attribute(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += c == '"' ? "&quot;" : c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

std::string verdicts(const lab::MeasuredStudy& study) {
  std::string text;
  for (const lab::JudgedClaim& one : lab::judged_by(study))
    text +=
        fmt::format("- [Claim {0}](claims.md#claim-{0}), \u201C{1}\u201D: **{2}**{3}{4}\n", one.claim->number,
                    one.claim->text, signed_verdict(one), format_scope(one), describe_predictions(one));
  return text;
}

}  // namespace

ResultsPage results_page(const std::vector<lab::MeasuredStudy>& measured) {
  ResultsPage results{
      "# Results\n\n## Five questions of practice\n\nThe answers are the ledger's and change with its "
      "verdicts. "
      "In parentheses: where, and the interval over seeds. The signs are the ledger's: " +
      lab::signed_legend() + ".\n\n" + practice(lab::judge_all(measured)) +
      "\n## Study by study\n\nThis page has the charts of the lab's [studies](studies.md), as run for these "
      "pages, and "
      "the verdicts on the claims that they decide. The text under each chart follows from its values. A "
      "program generates this page from [data/studies](data/studies). Ranges in parentheses run from the "
      "lowest to the highest seed; figures with intervals, bands and conditions are in [the "
      "ledger](claims.md).\n\n"};
  for (const lab::Study& study : lab::studies()) {
    const lab::MeasuredStudy* const found = lab::find_study(measured, study.name);
    if (!found) continue;
    lab::Page page{kit::HtmlReport(study.title, study.question)};
    study.report(page, found->results);
    results.markdown += fmt::format("## {}\n\n*{}* `./run lab {}`\n\n{}\n", study.title, study.question,
                                    study.name, verdicts(*found));
    for (std::size_t i = 0; i < page.plots.size(); ++i) {
      const auto& [name, drawing] = page.plots[i];
      const std::string path = fmt::format("studies/{}/{}", study.name, name);
      results.markdown += fmt::format("<img src=\"pictures/{}\" width=\"480\" alt=\"{}\">\n\n{}\n\n", path,
                                      attribute(page.captions[i].title), page.captions[i].text);
      results.pictures.emplace_back(path, drawing);
    }
  }
  results.markdown +=
      "[Contents](README.md) \xC2\xB7 before: [Published findings](published.md) \xC2\xB7 next: [The "
      "kit](kit.md)\n";
  return results;
}

}  // namespace gradus::docs
