#include "docs/draw/claims_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "lab/claims/marks.h"
#include "lab/statistics/format.h"
#include "lab/studies/studies.h"

namespace gradus::docs {

namespace {

using Path = std::filesystem::path;
using lab::Judged;
using lab::JudgedClaim;

/// Escapes a text for a table cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string summary_row(const JudgedClaim& one) {
  return fmt::format("| [{0}](#claim-{0}) | {1} | {2} |\n", one.claim->number, cell(one.claim->text),
                     cell(signed_verdict(one) + format_scope(one) + describe_predictions(one)));
}

/// Claims grouped by subject, one table per study.
std::string summary_tables(const std::vector<JudgedClaim>& ledger) {
  std::string text;
  const auto table = [&](const std::string& title, const std::string& study) {
    std::string rows;
    for (const JudgedClaim& one : ledger)
      if (one.claim->study == study) rows += summary_row(one);
    if (!rows.empty())
      text += fmt::format("**{}**\n\n| | claim | verdict |\n|---|---|---|\n{}\n", title, rows);
  };
  for (const lab::Study& study : lab::studies()) table(study.title, study.name);
  table("Not testable here", "");
  return text;
}

std::string measure_rows(const JudgedClaim& one) {
  std::string text =
      "\n| where | figure | band | holds | what | interval | seeds |\n|---|---|---|---|---|---|---|\n";
  std::string above;
  for (const Judged& measure : one.measures) {
    const std::string& what = measure.measure->what;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(measure.measure->where),
                        format_figure(measure), format_band(*measure.measure), signed_outcome(measure),
                        what == above ? "as above" : cell(what),
                        describe_interval(measure.measure->estimate, one.measures.size()), measure.seeds);
    above = what;
  }
  return text;
}

std::string row(const JudgedClaim& one) {
  const lab::Claim& claim = *one.claim;
  std::string text = fmt::format("<a id=\"claim-{0}\"></a>\n### {0}. {1}\n\n**{2} {3}**{4}{5}. Said by: {6}.",
                                 claim.number, claim.text, mark_of(one).sign, one.verdict(),
                                 format_scope(one), describe_predictions(one), claim.source);
  if (!claim.study.empty())
    text += fmt::format(" Measured by `./run lab claim {1}`: study [{0}](#study-{0}).", claim.study,
                        claim.number);
  text += "\n";
  if (!claim.prediction.empty()) text += "\nExpected beforehand: " + claim.prediction + "\n";
  if (!one.measures.empty()) text += measure_rows(one);
  if (!claim.note.empty()) text += "\n" + claim.note + "\n";
  if (!claim.paper.empty()) text += "\nIn print: " + claim.paper + "\n";
  return text;
}

std::string fact(const lab::Facts& facts, const std::string& name) {
  for (const auto& [key, value] : facts)
    if (key == name) return value;
  return "";
}

std::string runs_table(const std::vector<lab::MeasuredStudy>& studies) {
  std::string text =
      "| study | runs | hours of one core | gradus | kernels | date |\n|---|---|---|---|---|---|\n";
  for (const lab::MeasuredStudy& study : studies) {
    const lab::StudyConfig& config = study.config;
    const lab::StudyResults& results = study.results;
    double seconds = 0;
    for (const auto& [run, record] : results.records) seconds += record.seconds;
    text += fmt::format("| {} | {} | {:.1f} | {} | {} | {} |\n", config.study, results.records.size(),
                        seconds / 3600, fact(config.machine, "gradus"), fact(config.machine, "kernels"),
                        fact(config.machine, "date"));
  }
  return text;
}

/// The settings of every study's full form.
std::string settings() {
  std::string text;
  for (const lab::Study& study : lab::studies())
    text += fmt::format("<a id=\"study-{0}\"></a>\n**{0}**: {1} {2}\n\n", study.name, study.question,
                        study.setting);
  return text;
}

lab::Budget recorded_budget(const std::string& study) {
  return study == "compare" ? lab::Budget::standard : lab::Budget::full;
}

}  // namespace

std::string claims_page(const std::vector<lab::MeasuredStudy>& studies) {
  const std::vector<JudgedClaim> ledger = lab::judge_all(studies);
  std::string text = fmt::format(
      "# The ledger of claims\n\nStatements of teaching texts and papers about Pre-LN, Post-LN and related "
      "subjects, each claim with a program, an acceptance band that was written down before the run (except "
      "for claims [57](#claim-57) and [85](#claim-85), whose bands were added to finished runs), a figure "
      "with "
      "an interval over seeds, and a verdict. {} {} [The lab's studies](studies.md) says how claims are "
      "decided and what the "
      "intervals are.\n\n`./run lab claims` runs the quick form of all claims, `./run lab claim 13` that of "
      "one; `--full` runs the form behind this page (for claim 57: `--standard`), which is generated from "
      "[data/studies](data/studies).\n\nEach verdict has its scope in parentheses. The signs: {}.\n\n{}",
      lab::summarize_verdicts(ledger), lab::describe_correction(ledger), lab::signed_legend(),
      summary_tables(ledger));
  text +=
      "## Claim by claim\n\nA claim **holds** where the whole interval lies inside its band, is **false** "
      "where it lies outside, and **unclear** in between. A claim that the literature disputes stays "
      "disputed where our result is against it. All are small models on one small task: a row is valid for "
      "its settings. The best n-gram is the best of n = 1 to 4 ([the lab](lab.md#training)).\n\n";
  for (const JudgedClaim& one : ledger) text += row(one) + "\n";
  text += "## Settings and runs\n\n" + settings() + runs_table(studies);
  text +=
      "\n[Contents](README.md) \xC2\xB7 before: [The lab's studies](studies.md) \xC2\xB7 next: "
      "[Published findings](published.md)\n";
  return text;
}

void record_studies(const Path& from, const Path& to) {
  std::vector<lab::MeasuredStudy> studies = lab::studies_in(from);
  check(!studies.empty(), "{} holds no folder of a study", io::printable(from.string()));
  for (lab::MeasuredStudy& one : studies) {
    auto& [study, path, config, results] = static_cast<lab::StudyFolder&>(one);
    const lab::Budget wanted = recorded_budget(config.study);
    check(results.complete() && config.options.budget == wanted,
          "{}: {} is recorded in its {} form, run {}; expects all of its runs, got {} of {} of the {} form",
          io::printable(path.string()), config.study, name_of(wanted),
          wanted == lab::Budget::full ? "with --full" : "without options", results.records.size(),
          results.planned, name_of(config.options.budget));
    std::erase_if(config.machine, [](const auto& fact) {
      return fact.first != "gradus" && fact.first != "kernels" && fact.first != "date";
    });
    config.options.data = config.options.data.filename();
    std::string lines;
    for (auto& [run, record] : results.records) {
      if (config.study == "compare")
        for (const char* curve : {"losses", "gradient-norms"})
          if (record.measured.series.contains(curve)) record.measured.series[curve].clear();
      lines += lab::line_of(run, record).json() + "\n";
    }
    kit::make_folder(to / config.study);
    kit::replace_file(to / config.study / "runs.jsonl", lines);
    lab::write_study(to / config.study, config);
  }
}

}  // namespace gradus::docs
