#include "lab/program/study_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/duration.h"
#include "lab/claims/marks.h"
#include "lab/statistics/format.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

std::string format_claim(const JudgedClaim& judged) {
  return fmt::format("[Claim {0}](../claims.html#claim-{0}), \u201C{1}\u201D: **{2}**{3}{4}",
                     judged.claim->number, judged.claim->text, coloured_verdict(judged), format_scope(judged),
                     describe_predictions(judged));
}

kit::Table measures_table(const std::vector<JudgedClaim>& judged) {
  kit::Table table{.caption = "The claims' measures",
                   .header = {"Claim", "Where", "Figure", "Band", "Holds", "What", "Interval", "Seeds"}};
  for (const JudgedClaim& claim : judged)
    for (const Judged& one : claim.measures)
      table.rows.push_back({fmt::format("{}", claim.claim->number), one.measure->where, format_figure(one),
                            format_band(*one.measure), coloured_outcome(one), one.measure->what,
                            describe_interval(one.measure->estimate, claim.measures.size()),
                            std::to_string(one.seeds)});
  return table;
}

/// A sentence on whether bands and predictions are those that the study began with.
std::string describe_recording(const StudyConfig& config) {
  if (config.current_bands().empty()) return "";
  const std::string since = config.extensions.empty()
                                ? "the first run"
                                : fmt::format("run {} in runs.jsonl, the first of those added last",
                                              config.extensions.back().after + 1);
  return has_recorded_bands(config)
             ? fmt::format(" Bands and predictions are those that were recorded before {}.", since)
             : fmt::format(" **Bands or predictions have been changed since {}.**", since);
}

void add_claims(Page& page, const std::vector<JudgedClaim>& judged, const StudyConfig& config) {
  if (judged.empty()) return;
  page.html.heading("The claims and their bands");
  page.html.paragraph(
      "Each band was written down before the runs. A claim holds where the whole interval lies inside the "
      "band, is false where it lies outside, and is unclear in between. The seed is the unit: every figure "
      "first becomes one number per seed, and differences are taken within a seed. A claim with m measures "
      "has intervals of level 1 \u2212 0.05/m (Bonferroni), so all of them cover together with probability "
      "0.95." +
      describe_recording(config));
  page.html.table(measures_table(judged));
  for (const JudgedClaim& one : judged)
    if (!one.claim->prediction.empty())
      page.html.paragraph(
          fmt::format("Claim {}, expected beforehand: {}", one.claim->number, one.claim->prediction));
}

/// One line per run, one column per number.
std::string numbers_csv(const StudyResults& results) {
  std::set<std::string> names;
  for (const auto& [run, record] : results.records)
    for (const auto& [name, value] : record.measured.numbers) names.insert(name);
  std::string text = "run";
  for (const std::string& name : names) text += "," + name;
  text += "\n";
  for (const auto& [run, record] : results.records) {
    text += run;
    for (const std::string& name : names) {
      const auto value = record.measured.numbers.find(name);
      text += value == record.measured.numbers.end() ? "," : fmt::format(",{:.6g}", value->second);
    }
    text += "\n";
  }
  return text;
}

std::string series_csv(const StudyResults& results) {
  std::string text = "run,series,index,value\n";
  for (const auto& [run, record] : results.records)
    for (const auto& [name, values] : record.measured.series)
      for (std::size_t i = 0; i < values.size(); ++i)
        text += fmt::format("{},{},{},{:.6g}\n", run, name, i, values[i]);
  return text;
}

void add_settings(Page& page, const StudyConfig& config, const StudyResults& results) {
  double seconds = 0;
  for (const auto& [run, record] : results.records) seconds += record.seconds;
  page.html.heading("Settings and machine");
  page.html.key_values("Settings",
                       {{"study", config.study},
                        {"budget", name_of(config.options.budget)},
                        {"first seed", std::to_string(config.options.seed)},
                        {"runs", fmt::format("{} of {}", results.records.size(), results.planned)},
                        {"time", kit::human_duration(seconds) + " of one core"}});
  page.html.key_values("Versions and machine", config.machine);
  for (const Extension& extension : config.extensions)
    page.html.key_values(
        fmt::format("Versions and machine from run {} in runs.jsonl on", extension.after + 1),
        extension.machine);
  page.html.paragraph(
      "All numbers: [numbers.csv](numbers.csv), one line per run; [series.csv](series.csv), values along a "
      "run or along the layers; [runs.jsonl](runs.jsonl), the original records. Charts as files are in "
      "`plots/`. `./run report DIR` draws everything again from these files. The same settings give the same "
      "bits on the same kind of machine.");
}

/// The verdicts on its claims, and the form of the study if that is not the full one.
std::string sentence_of(const MeasuredStudy& measured, const std::vector<JudgedClaim>& judged) {
  std::string form = measured.form() + ". ";
  form.front() = static_cast<char>(std::toupper(form.front()));
  return (form == "Full form. " ? "" : form) +
         (judged.empty() ? "No claim of the ledger is measured here." : summarize_verdicts(judged));
}

}  // namespace

std::string MeasuredStudy::form() const {
  std::string words = name_of(config.options.budget) + " form";
  if (!results.complete()) words += fmt::format(", {} of {} runs", results.records.size(), results.planned);
  if (config.shard.count > 1) words += fmt::format(", part {} of {}", config.shard.index, config.shard.count);
  return words;
}

std::string summarize_verdicts(const std::vector<JudgedClaim>& judged) {
  struct Kind {
    const char *begins, *one, *many;
  };
  constexpr Kind kKinds[] = {{"holds only", "holds only in places", "hold only in places"},
                             {"holds", "holds", "hold"},
                             {"false", "is false", "are false"},
                             {"disputed", "is disputed", "are disputed"},
                             {"unclear", "is unclear", "are unclear"},
                             {"not decided", "is not decided", "are not decided"},
                             {"not measured", "is not measured", "are not measured"},
                             {"not testable", "cannot be tested here", "cannot be tested here"}};
  std::vector<std::int64_t> counts(std::size(kKinds));
  for (const JudgedClaim& claim : judged) {
    const std::string verdict = claim.head();
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& one) { return verdict.starts_with(one.begins); });
    ++counts[static_cast<std::size_t>(kind - std::begin(kKinds))];
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      words.push_back(fmt::format("{} {}", counts[i], counts[i] == 1 ? kKinds[i].one : kKinds[i].many));
  if (judged.empty()) return "No claim can be judged yet.";
  return fmt::format("Of {}: {}.", counted(static_cast<std::int64_t>(judged.size()), "claim"), listed(words));
}

std::string write_study_page(const MeasuredStudy& measured) {
  const Study& study = *measured.study;
  std::vector<JudgedClaim> judged = judged_by(measured);
  if (study.conclude)  // its settings may be outside all claims
    std::erase_if(judged, [](const JudgedClaim& claim) { return claim.head() == "not measured"; });
  Conclusion conclusion = study.conclude ? study.conclude(measured.results)
                                         : Conclusion{.title = study.title,
                                                      .question = study.question,
                                                      .sentence = sentence_of(measured, judged),
                                                      .findings = {}};
  const Shard& shard = measured.config.shard;
  if (study.conclude && shard.count > 1)
    conclusion.sentence = fmt::format("Part {} of {}. {}", shard.index, shard.count, conclusion.sentence);
  Page page{kit::HtmlReport(conclusion.title, conclusion.question)};
  std::vector<std::string> findings = conclusion.findings;
  for (const JudgedClaim& claim : judged) findings.push_back(format_claim(claim));
  page.html.verdict(conclusion.sentence, findings);
  if (measured.results.records.empty())
    page.html.paragraph("No run has finished yet.");
  else
    study.report(page, measured.results);
  add_claims(page, judged, measured.config);
  add_settings(page, measured.config, measured.results);
  kit::make_folder(measured.path / "plots");
  for (const auto& [name, content] : page.plots) kit::replace_file(measured.path / "plots" / name, content);
  for (const auto& [name, content] : page.files) kit::replace_file(measured.path / name, content);
  kit::replace_file(measured.path / "numbers.csv", numbers_csv(measured.results));
  kit::replace_file(measured.path / "series.csv", series_csv(measured.results));
  kit::replace_file(measured.path / "report.html", page.html.html());
  return conclusion.sentence;
}

}  // namespace gradus::lab
