#include "docs/draw/published_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"

namespace gradus::docs {

namespace {

using lab::Judged;
using lab::JudgedClaim;

/// A finding, and the measures of a claim whose bands hold if the sign agrees; none named: all of them.
struct Finding {
  const char *paper, *reported;
  int claim;
  std::vector<std::string> measures = {};
};

/// By year.
const std::vector<Finding>& findings() {
  static const std::vector<Finding> all = {
      {"Nguyen and Salazar 2019, arXiv 1910.05895",
       "five low-resource translation pairs: pre-norm with smaller initial weights trains without warm-up",
       14,
       {"needs-warm-up.L2", "needs-warm-up.L6", "needs-warm-up.L12", "needs-warm-up.L24"}},
      {"Nguyen and Salazar 2019, arXiv 1910.05895",
       "the same pairs: ScaleNorm trains faster and better; all changes together +1.1 BLEU on average", 84},
      {"Zhang and Sennrich 2019, arXiv 1910.07467",
       "translation, reading and image models: RMSNorm is comparable to LayerNorm, with 7% to 64% less "
       "running time",
       40},
      {"Zhang et al. 2019, arXiv 1901.09321",
       "image classification and translation: with Fixup, residual networks without norms train as stably as "
       "with them, even with 10,000 layers",
       81},
      {"Huang et al. 2020, ICML",
       "IWSLT'14 De-En, a small model without norms or warm-up: 35.73 BLEU (the authors' code)", 82},
      {"Liu et al. 2020, arXiv 2004.08249", "WMT'14 En-De, 18-18 layers: Post-LN fails, Admin has 29.03 BLEU",
       75},
      {"Xiong et al. 2020, arXiv 2002.04745",
       "IWSLT'14 De-En, 6-6 layers: without warm-up Post-LN has 8.45 BLEU, with 4000 steps about 34, Pre-LN "
       "about 34 without",
       54},
      {"Xiong et al. 2020, arXiv 2002.04745",
       "the same: Post-LN needs the warm-up, Pre-LN does not",
       14,
       {"gain.L2", "gain.L6", "gain.L12", "gain.L24"}},
      {"Xiong et al. 2020, arXiv 2002.04745",
       "the same; ours: each placement at its best initial weights and rate",
       59,
       {"gain.difference.L2", "gain.difference.L6", "gain.difference.L12", "gain.difference.L24"}},
      {"Gilmer et al. 2022, arXiv 2110.04369",
       "many classification tasks: training at a high rate succeeds where it avoids or soon leaves regions "
       "of high curvature, which a warm-up achieves",
       53},
      {"Takase et al. 2022, arXiv 2206.00330",
       "Post-LN is better than Pre-LN with six layers or fewer and fails with 18-18 on WMT En-De; B2T trains "
       "at both depths, with 18-18 27.52 BLEU against Pre-LN's 26.57 (the authors' code)",
       77},
      {"Wang et al. 2022, arXiv 2203.00555",
       "WMT'17 En-De: DeepNorm has 28.8 BLEU with 18-18 layers and 28.9 with 100-100; Post-LN diverges from "
       "18-18 on",
       76},
      {"Brody et al. 2023, arXiv 2305.02582",
       "small language models: without LayerNorm's division some keys cannot be selected by any query", 83},
      {"Xie et al. 2023, arXiv 2304.14802",
       "several translation tasks: ResiDual outperforms Post-LN and Pre-LN at several depths", 78},
      {"Li et al. 2024, arXiv 2412.13795",
       "LLaMA-like models of 70M to 7B parameters: Mix-LN's deep layers contribute more, and it ends lower "
       "than Pre-LN",
       80},
      {"Kim et al. 2025, arXiv 2502.02732",
       "models of up to 3.2B parameters, in training: the variance of Pre-LN's hidden states can grow "
       "exponentially with depth, Peri-LN's grows linearly or sub-exponentially",
       79},
      {"Sun et al. 2025, arXiv 2502.05795",
       "models of 130M to 7B parameters: with layer-norm scaling deep layers contribute more than in Pre-LN",
       28,
       {"against-scaling"}}};
  return all;
}

/// Escapes a text for a table cell.
std::string published_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

const JudgedClaim& row_of(const std::vector<JudgedClaim>& ledger, int number) {
  const auto found = std::find_if(ledger.begin(), ledger.end(),
                                  [&](const JudgedClaim& one) { return one.claim->number == number; });
  check(found != ledger.end(), "published_page: there is no claim {}", number);
  return *found;
}

std::vector<const Judged*> measures_of(const JudgedClaim& claim, const Finding& finding) {
  std::vector<const Judged*> some;
  for (const Judged& one : claim.measures)
    if (finding.measures.empty() || std::find(finding.measures.begin(), finding.measures.end(),
                                              one.measure->id) != finding.measures.end())
      some.push_back(&one);
  check(!some.empty() && (finding.measures.empty() || some.size() == finding.measures.size()),
        "published_page: claim {} does not have all measures of its row", finding.claim);
  return some;
}

std::string agreement(const Judged& one) {
  const std::string outcome = describe_outcome(one);
  return outcome.empty() ? "not measured" : outcome;
}

std::string row(const Finding& finding, const JudgedClaim& claim) {
  std::string ours, agrees;
  const std::vector<const Judged*> measures = measures_of(claim, finding);
  const bool same = std::all_of(measures.begin(), measures.end(), [&](const Judged* one) {
    return agreement(*one) == agreement(*measures.front());
  });
  for (const Judged* one : measures) {
    const std::string separator = ours.empty() ? "" : "; ", where = one->measure->where;
    // The figure of an arm that trains nowhere, for one, says nothing.
    const bool measured = one->judgement != lab::Judgement::not_measured;
    ours += fmt::format("{}{}{}", separator, where.empty() ? "" : where + ": ",
                        measured ? format_figure(*one) : "not measured");
    if (!same) agrees += fmt::format("{}{}: {}", separator, where, agreement(*one));
  }
  if (same) agrees = agreement(*measures.front());
  return fmt::format("| {} | {} | {} | {} | [{}](claims.md#claim-{}) |\n", finding.paper, finding.reported,
                     published_cell(ours), published_cell(agrees), finding.claim, finding.claim);
}

}  // namespace

std::string published_page(const std::vector<lab::MeasuredStudy>& studies) {
  const std::vector<JudgedClaim> ledger = lab::judge_all(studies);
  std::string text =
      "# Published findings\n\nDo findings of papers on norms and their places have the same sign in the "
      "lab's small models? A row has a paper's setting and figure, and ours with its interval over seeds. "
      "Most of the papers' models are far larger, and they are measured in other units, so only the sign is "
      "compared: it agrees (**yes**) where the whole interval lies inside the band that was written down "
      "before the run, and does not (**no**) where it lies outside. Bands leave a margin: a small difference "
      "of the right sign is not enough. What each figure is, its band, its setting and its seeds are in [the "
      "ledger](claims.md), under the claim in the last column. The study `papers` (`./run lab "
      "papers`) measures claims 75 to 84, other studies the rest.\n\n"
      "| paper | setting and figure | ours | sign agrees | claim |\n|---|---|---|---|---|\n";
  for (const Finding& finding : findings()) text += row(finding, row_of(ledger, finding.claim));
  text +=
      "\nA sign that does not agree here does not refute a paper: models of at most 100 layers and 64 "
      "channels, most of them on a small artificial language, may differ from those of the paper in more "
      "than size. 18-18 layers are those of an encoder and a decoder; the lab's models are one stack, except "
      "in claim 54. A program generates this page from "
      "[data/studies](data/studies).\n\n[Contents](README.md) \xC2\xB7 before: [The ledger of "
      "claims](claims.md) \xC2\xB7 next: [Results](results.md)\n";
  return text;
}

}  // namespace gradus::docs
