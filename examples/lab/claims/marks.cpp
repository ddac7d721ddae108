#include "lab/claims/marks.h"

#include <fmt/format.h>

#include <functional>

#include "lab/statistics/format.h"

namespace gradus::lab {

namespace {

/// The last one for any other verdict.
const Mark& mark_named(const std::string& verdict) {
  for (const Mark& mark : marks())
    if (mark.verdict == verdict) return mark;
  return marks().back();
}

std::string in_colour(const Mark& mark, const std::string& words) {
  return fmt::format("{{{}:{}}}", mark.colour, words);
}

/// An outcome without words, not measured and not predicted, is its sign alone.
std::string with_sign(const Mark& mark, const std::string& words) {
  return mark.sign + (words.empty() ? "" : " ") + words;
}

std::string legend_of(const std::function<std::string(const Mark&, const std::string&)>& write) {
  std::vector<std::string> kinds;
  for (const Mark& mark : marks()) kinds.push_back(write(mark, with_sign(mark, mark.meaning)));
  return listed(kinds);
}

}  // namespace

const std::vector<Mark>& marks() {
  static const std::vector<Mark> all = {
      {"holds", "\u2713", "blue", "holds"},                                           // a check mark
      {"holds only where", "\u25D0", "green", "holds only in places"},                // a circle, half black
      {"false", "\u2717", "orange", "false"},                                         // a ballot x
      {"disputed", "\u21C4", "purple", "disputed: our result is against a paper's"},  // two arrows
      {"unclear", "?", "yellow", "unclear"},
      {"not decided", "\u25CB", "gray", "not decided"},  // a circle
      {"", "\u2013", "gray", "not measured, or not testable here"}};
  return all;
}

const Mark& mark_of(const JudgedClaim& judged) { return mark_named(judged.head()); }

const Mark& mark_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::holds:
      return mark_named("holds");
    case Judgement::fails:
      return mark_named("false");
    case Judgement::unclear:
      return mark_named("unclear");
    case Judgement::not_decided:
      return mark_named("not decided");
    case Judgement::not_measured:
      break;
  }
  return marks().back();
}

std::string signed_verdict(const JudgedClaim& judged) {
  return with_sign(mark_of(judged), judged.short_verdict());
}

std::string coloured_verdict(const JudgedClaim& judged) {
  return in_colour(mark_of(judged), signed_verdict(judged));
}

std::string signed_outcome(const Judged& judged) {
  return with_sign(mark_of(judged.judgement), against_prediction(judged));
}

std::string coloured_outcome(const Judged& judged) {
  return in_colour(mark_of(judged.judgement), signed_outcome(judged));
}

std::string describe_predictions(const JudgedClaim& judged) {
  std::size_t outcomes = 0, right = 0;
  for (const Judged& one : judged.measures)
    if (one.measure->prediction && one.judgement != Judgement::not_measured &&
        one.judgement != Judgement::not_decided) {
      ++outcomes;
      right += one.judgement == *one.measure->prediction ? 1 : 0;
    }
  return outcomes == 0 ? "" : fmt::format("; as predicted in {} of {}", right, outcomes);
}

std::string signed_legend() {
  return legend_of([](const Mark&, const std::string& words) { return words; });
}

std::string coloured_legend() { return legend_of(in_colour); }

}  // namespace gradus::lab
