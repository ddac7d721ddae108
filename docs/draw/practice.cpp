#include "docs/draw/practice.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "lab/claims/marks.h"
#include "lab/statistics/format.h"

namespace gradus::docs {

namespace {

using lab::Judged;
using lab::JudgedClaim;
using lab::Judgement;

struct Answer {
  int claim = 0;
  std::vector<std::string> measures;
};

struct Question {
  std::string text;
  std::vector<Answer> answers;  // the one with the fewest conditions first
};

/// Answers whose measures hold if the answer is yes.
const std::vector<Question>& questions() {
  static const std::vector<Question> all = {
      {"Does Pre-LN end lower than Post-LN?",
       {{62, {"best.L6", "best.L12", "best.L24"}},
        {55, {"best.L4", "best.L12"}},
        {18, {"best.L2", "best.L6", "best.L12", "best.L24"}}}},
      {"Is Pre-LN less sensitive to the learning rate?",
       {{58, {"sensitivity.L6", "sensitivity.L12", "sensitivity.L24"}},
        {13, {"sensitivity-warm.L2", "sensitivity-warm.L6", "sensitivity-warm.L12"}}}},
      {"Can Pre-LN do without a warm-up?",
       {{59, {"gain.pre.L6", "gain.pre.L12", "gain.pre.L24"}},
        {14, {"needs-warm-up.L6", "needs-warm-up.L12", "needs-warm-up.L24"}}}},
      {"Does Post-LN train, too?",
       {{63, {"trains.post.L6", "trains.post.L12"}}, {19, {"post-above-ngram.L6", "post-above-ngram.L12"}}}},
      {"Does RMSNorm do as well as LayerNorm?", {{40, {"rms.pre6", "rms.pre24"}}}}};
  return all;
}

const JudgedClaim& row_of(const std::vector<JudgedClaim>& ledger, int claim) {
  const auto found = std::find_if(ledger.begin(), ledger.end(),
                                  [&](const JudgedClaim& one) { return one.claim->number == claim; });
  check(found != ledger.end(), "practice: expects claim {} in the ledger", claim);
  return *found;
}

std::vector<const Judged*> measures_of(const JudgedClaim& row, const Answer& answer) {
  std::vector<const Judged*> found;
  for (const std::string& id : answer.measures)
    for (const Judged& one : row.measures)
      if (one.measure->id == id) found.push_back(&one);
  check(found.size() == answer.measures.size(), "practice: expects {} measures of claim {}, got {}",
        answer.measures.size(), answer.claim, found.size());
  return found;
}

/// "✓ yes, 12 layers: 0.312 (0.302 to 0.322)".
std::string outcome(const Judged& one) {
  const bool measured = one.judgement != Judgement::not_measured;
  const std::string words = describe_outcome(one);
  return fmt::format("{} {} ({}){}", mark_of(one.judgement).sign, words.empty() ? "not measured" : words,
                     one.measure->where, measured ? ": " + format_figure(one) : "");
}

std::string sentence(const std::vector<JudgedClaim>& ledger, const Question& question) {
  std::vector<std::string> links;
  for (const Answer& answer : question.answers) {
    const JudgedClaim& row = row_of(ledger, answer.claim);
    const std::vector<const Judged*> measures = measures_of(row, answer);
    links.push_back(fmt::format("[claim {0}](claims.md#claim-{0})", answer.claim));
    if (std::all_of(measures.begin(), measures.end(),
                    [](const Judged* one) { return one->judgement == Judgement::not_measured; }))
      continue;
    std::string outcomes;
    for (const Judged* one : measures) outcomes += (outcomes.empty() ? "" : "; ") + outcome(*one);
    return fmt::format("**{}** {}. The figure: {}; scope: {}; {}.", question.text, outcomes,
                       measures.front()->measure->what, row.scope, links.back());
  }
  return fmt::format("**{}** {} not measured: {}.", question.text, mark_of(Judgement::not_measured).sign,
                     lab::listed(links));
}

}  // namespace

std::string practice(const std::vector<JudgedClaim>& ledger) {
  std::string list;
  for (std::size_t i = 0; i < questions().size(); ++i)
    list += fmt::format("{}. {}\n", i + 1, sentence(ledger, questions()[i]));
  return list;
}

}  // namespace gradus::docs
