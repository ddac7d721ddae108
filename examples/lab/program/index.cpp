// index.html and claims.html: all studies of a folder, and the ledger with their results.

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "lab/claims/marks.h"
#include "lab/program/study_page.h"
#include "lab/statistics/format.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

/// Encodes a folder's name for a link.
std::string encoded(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'
                ? std::string(1, c)
                : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return text;
}

/// The appendix: each method in a few lines, with its source.
void add_methods(kit::HtmlReport& page) {
  page.heading("Methods");
  page.list(
      {"**The seed is the unit.** Runs of one seed share their data and, where they can, their weights: they "
       "are one observation. Every figure first becomes one number per seed; differences are taken within a "
       "seed (paired).",
       "**t interval** (Student 1908): mean \u2213 t s / \u221An with n \u2212 1 degrees of freedom; for "
       "means of seeds that are roughly normally distributed.",
       "**Bootstrap interval** (Efron 1979): the middle of the means of 10,000 samples drawn from the seeds "
       "with replacement; does not assume a normal distribution; too narrow below about ten seeds.",
       "**Interval of the median**: between two of the seeds' numbers, chosen by the sign test (Conover, "
       "Practical Nonparametric Statistics, 3.2); does not assume a normal distribution.",
       "**Clopper-Pearson interval** (1934): for the share of seeds that have a property; exact, somewhat "
       "too wide. In a claim of three measures or more, a share of ten seeds is decided against one half "
       "only if all ten agree, and one of five never is.",
       "**Logit interval**: the t interval for the mean of values that are shares themselves, on the logit "
       "scale: logit(mean) \u2213 t s / (\u221An mean (1 \u2212 mean)), mapped back, so it stays between 0 "
       "and 1; where the mean is 0 or 1, the t interval.",
       "**Exact**: chance plays no part, as when two formulas are compared; the worst case counts.",
       "**Several measures of a claim** share one error of 0.05: with m of them each interval has level 1 "
       "\u2212 0.05/m "
       "(Bonferroni). Over the whole ledger the correction of Benjamini and Hochberg (1995) is reported "
       "next to the verdicts and does not decide them. It can hardly change a verdict of this ledger: a "
       "decided measure has p of at most 0.05/m already, and the correction asks only for 0.05 times the "
       "share of measures that are decided, which is most of them.",
       "**Not decided**: a search ends at the edge of its rates; a band is wider than a third of the "
       "distance from the best arm to the lowest possible loss (saturated); fewer than five seeds, or fewer "
       "than five without a failed run; a target is reached on some seeds only; of a claim that needs all "
       "its parts one is not measured and the others hold. **Not measured**: an arm trains nowhere, fails on "
       "every seed or never reaches the target, or its control fails.",
       "**Predictions** were written down, with the bands, before the first run of the seeds that judge.",
       "**Bands** were written down before the runs of the plan's seeds; quick forms have the same bands and "
       "fewer seeds, so more is unclear.",
       "**Divergence**: a loss that is not finite or above four times that of guessing evenly. Such a run, "
       "and one that "
       "ends above its start, counts with its loss at the start (Wortsman et al. 2023, 2309.14322)."});
}

std::string scope_of(const Claim& claim) {
  if (!claim.scope.empty() || claim.study.empty()) return claim.scope;
  return study_named(claim.study).scope;
}

std::string claims_page(const std::vector<JudgedClaim>& judged, const std::vector<MeasuredStudy>& studies) {
  kit::HtmlReport page("The ledger of claims",
                       "Statements of teaching texts and papers about Pre-LN, Post-LN and related subjects, "
                       "each of them tested. " +
                           summarize_verdicts(judged) + " " + describe_correction(judged) +
                           " [All studies](index.html).");
  page.paragraph(fmt::format("Each verdict has its scope in parentheses. The signs: {}.", coloured_legend()));
  kit::Table verdicts{.header = {"", "Claim", "Verdict"}};
  for (const JudgedClaim& claim : judged)
    verdicts.rows.push_back({fmt::format("[{0}](#claim-{0})", claim.claim->number), claim.claim->text,
                             coloured_verdict(claim) + format_scope(claim) + describe_predictions(claim)});
  page.table(verdicts);
  page.heading("Claim by claim");
  for (const JudgedClaim& claim : judged) {
    page.subheading(fmt::format("{}. {}", claim.claim->number, claim.claim->text),
                    fmt::format("claim-{}", claim.claim->number));
    const MeasuredStudy* const study = find_study(studies, claim.claim->study);
    page.paragraph(
        fmt::format("**{{{}:{} {}}}**{}{}. Said by: {}.{}", mark_of(claim).colour, mark_of(claim).sign,
                    claim.verdict(), format_scope(claim), describe_predictions(claim), claim.claim->source,
                    study ? fmt::format(" Measured by [{}]({}/report.html), {}.", claim.claim->study,
                                        encoded(study->path.filename().string()), claim.form)
                          : ""));
    if (!claim.claim->prediction.empty()) page.paragraph("Expected beforehand: " + claim.claim->prediction);
    kit::Table table{.header = {"Where", "Figure", "Band", "Holds", "What", "Interval", "Seeds"}};
    for (const Judged& one : claim.measures)
      table.rows.push_back({one.measure->where, format_figure(one), format_band(*one.measure),
                            coloured_outcome(one), one.measure->what,
                            describe_interval(one.measure->estimate, claim.measures.size()),
                            std::to_string(one.seeds)});
    if (!table.rows.empty()) page.table(table);
    if (!claim.claim->note.empty()) page.paragraph(claim.claim->note);
    if (!claim.claim->paper.empty()) page.paragraph("In print: " + claim.claim->paper);
  }
  add_methods(page);
  return page.html();
}

}  // namespace

std::vector<Path> study_folders(const Path& folder) {
  std::vector<Path> folders;
  if (!std::filesystem::is_directory(folder)) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory() && is_study(entry.path())) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<MeasuredStudy> studies_in(const Path& folder) {
  std::vector<MeasuredStudy> all;
  for (const Path& one : study_folders(folder)) {
    MeasuredStudy measured{read_folder(one, study_named), {}};
    measured.figures = measured.study->figures(measured.results);
    check_input(find_study(all, measured.study->name) == nullptr, "{} holds the study {} twice",
                io::printable(folder.string()), measured.study->name);
    all.push_back(std::move(measured));
  }
  return all;
}

const MeasuredStudy* find_study(const std::vector<MeasuredStudy>& studies, const std::string& name) {
  for (const MeasuredStudy& one : studies)
    if (one.study->name == name) return &one;
  return nullptr;
}

std::vector<JudgedClaim> judge_all(const std::vector<MeasuredStudy>& studies) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : claims()) {
    const MeasuredStudy* const study = find_study(studies, claim.study);
    judged.push_back(judge(claim, study ? study->figures : Figures{}));
    judged.back().form = study ? study->form() : "not run";
    judged.back().scope = scope_of(claim);
  }
  return judged;
}

std::vector<JudgedClaim> judged_by(const MeasuredStudy& study) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : claims())
    if (claim.study == study.study->name) {
      judged.push_back(judge(claim, study.figures));
      judged.back().form = study.form();
      judged.back().scope = scope_of(claim);
    }
  return judged;
}

std::string describe_correction(const std::vector<JudgedClaim>& ledger) {
  const std::vector<JudgedClaim> after = corrected(ledger);
  std::size_t measures = 0, decided = 0, lost = 0;
  std::vector<std::int64_t> changed;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    for (std::size_t j = 0; j < ledger[i].measures.size(); ++j) {
      const Judged& one = ledger[i].measures[j];
      if (one.measure->estimate == Estimate::exact || one.judgement == Judgement::not_measured ||
          one.judgement == Judgement::not_decided)
        continue;
      ++measures;
      if (one.judgement != Judgement::unclear) ++decided;
      if (one.judgement != after[i].measures[j].judgement) ++lost;
    }
    if (ledger[i].head() != after[i].head()) changed.push_back(ledger[i].claim->number);
  }
  if (measures == 0) return "";
  return fmt::format(
      "A correction over the whole ledger (Benjamini and Hochberg 1995, false discovery rate 0.05, {} "
      "measures with an "
      "interval) would leave {} of the {} decided ones unclear and change {}{}.",
      measures, lost, decided, counted(static_cast<std::int64_t>(changed.size()), "verdict"),
      changed.empty() ? "" : ", of claim " + listed(changed));
}

void check_pages(const Path& folder) {
  constexpr const char* kPages[][2] = {{"index.html", "<title>The lab&#39;s studies</title>"},
                                       {"claims.html", "<title>The ledger of claims</title>"}};
  for (const auto& [page, title] : kPages)
    check_input(!std::filesystem::exists(folder / page) ||
                    kit::read_file(folder / page, "lab").find(title) != std::string::npos,
                "{} holds {}, which does not belong to the lab and would be overwritten: move it, or use "
                "another folder",
                io::printable(folder.string()), page);
}

Sentences write_index(const Path& folder, const std::vector<MeasuredStudy>& studies) {
  check_input(!studies.empty(), "{} holds no folder of a study", io::printable(folder.string()));
  check_pages(folder);
  const std::vector<JudgedClaim> judged = judge_all(studies);
  kit::HtmlReport page("The lab's studies", "Where does layer norm belong? " + summarize_verdicts(judged) +
                                                " [The ledger of claims](claims.html).");
  kit::Table table{.header = {"Study", "Question", "Runs", "Result"}};
  Sentences sentences;
  for (const MeasuredStudy& one : studies) {
    const std::string sentence = sentences[one.study->name] = write_study_page(one);
    table.rows.push_back(
        {fmt::format("[{}]({}/report.html)", one.study->title, encoded(one.path.filename().string())),
         one.study->question,
         fmt::format("{} of {}, {}", one.results.records.size(), one.results.planned,
                     name_of(one.config.options.budget)),
         sentence});
  }
  page.table(table);
  page.save(folder / "index.html");
  kit::replace_file(folder / "claims.html", claims_page(judged, studies));
  return sentences;
}

}  // namespace gradus::lab
