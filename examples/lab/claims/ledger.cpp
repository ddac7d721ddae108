#include "lab/claims/ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/statistics.h"

namespace gradus::lab {

namespace {

double level_of(std::size_t measures) {
  return 1 - kLevel / static_cast<double>(std::max<std::size_t>(measures, 1));
}

std::int64_t above_zero(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// The value that is furthest outside the band.
double worst(const std::vector<double>& values, const Measure& measure) {
  const auto outside = [&](double value) { return std::max(measure.low - value, value - measure.high); };
  return *std::max_element(values.begin(), values.end(), [&](double a, double b) {
    return std::isnan(b) || (!std::isnan(a) && outside(a) < outside(b));
  });
}

/// Figure and interval.
void estimate(Judged& judged, const std::vector<double>& values, double level) {
  const auto seeds = static_cast<std::int64_t>(values.size());
  switch (judged.measure->estimate) {
    case Estimate::mean_t:
      judged.figure = mean(values);
      judged.interval = t_interval(values, level);
      return;
    case Estimate::mean_bootstrap:
      judged.figure = mean(values);
      judged.interval = bootstrap_interval(values, level);
      return;
    case Estimate::mean_logit:
      judged.figure = mean(values);
      judged.interval = logit_interval(values, level);
      return;
    case Estimate::median:
      judged.figure = median(values);
      judged.interval = median_interval(values, level);
      return;
    case Estimate::share:
      judged.figure = static_cast<double>(above_zero(values)) / static_cast<double>(seeds);
      judged.interval = share_interval(above_zero(values), seeds, level);
      return;
    case Estimate::exact:
      judged.figure = worst(values, *judged.measure);
      judged.interval = {judged.figure, judged.figure};
      return;
  }
}

Judgement judgement_of(const Measure& measure, const Interval& interval) {
  if (interval.low >= measure.low && interval.high <= measure.high) return Judgement::holds;
  if (interval.high < measure.low || interval.low > measure.high) return Judgement::fails;
  return Judgement::unclear;  // also where either end is NaN
}

std::string places(const std::vector<Judged>& measures, Judgement judgement) {
  std::string words;
  for (const Judged& judged : measures)
    if (judged.judgement == judgement)
      words += (words.empty() ? "" : "; ") + judged.measure->where +
               (judged.why.empty() ? "" : fmt::format(" ({})", judged.why));
  return words;
}

/// The width of the band, or for an open band the distance of its end from 0.
double width_of(const Measure& measure) {
  if (std::isinf(measure.low)) return std::abs(measure.high);
  return std::isinf(measure.high) ? std::abs(measure.low) : measure.high - measure.low;
}

/// The objection to judging a measure by its interval, if there is one.
std::optional<Objection> objection_to(const Measure& measure, const Figures& figures, std::size_t seeds) {
  if (const auto found = figures.objections.find(measure.id); found != figures.objections.end())
    return found->second;
  if (seeds == 0) return Objection{Judgement::not_measured, ""};
  if (measure.estimate != Estimate::exact && seeds < kLeastSeeds)
    return Objection{Judgement::not_decided, counted(static_cast<std::int64_t>(seeds), "seed")};
  const auto headroom = figures.headroom.find(measure.id);
  if (headroom != figures.headroom.end() && width_of(measure) > headroom->second / 3)
    return Objection{Judgement::not_decided, "saturated"};
  return std::nullopt;
}

}  // namespace

JudgedClaim judge(const Claim& claim, const Figures& figures) {
  JudgedClaim judged{.claim = &claim, .measures = {}};
  for (const Measure& measure : claim.measures) {
    Judged& one = judged.measures.emplace_back(Judged{.measure = &measure});
    if (const auto found = figures.find(measure.id); found != figures.end()) one.values = found->second;
    one.seeds = one.values.size();
    if (one.seeds > 0) estimate(one, one.values, level_of(claim.measures.size()));
    one.judgement = judgement_of(measure, one.interval);
    if (const auto objection = objection_to(measure, figures, one.seeds))
      one.judgement = objection->judgement, one.why = objection->why;
  }
  return judged;
}

double p_of(const Judged& judged) {
  if (judged.judgement != Judgement::holds && judged.judgement != Judgement::fails) return 1;
  if (judged.measure->estimate == Estimate::exact) return 0;
  // Intervals grow with their level: the verdict holds for all errors above p.
  double low = -12, high = 0;  // of the decimal logarithm
  for (int i = 0; i < 30; ++i) {
    Judged at{.measure = judged.measure};
    const double middle = (low + high) / 2;
    estimate(at, judged.values, 1 - std::pow(10, middle));
    (judgement_of(*judged.measure, at.interval) == judged.judgement ? high : low) = middle;
  }
  return std::pow(10, high);
}

std::vector<JudgedClaim> corrected(std::vector<JudgedClaim> ledger) {
  std::vector<Judged*> tested;
  std::vector<double> p;
  for (JudgedClaim& claim : ledger)
    for (Judged& one : claim.measures)
      if (one.measure->estimate != Estimate::exact && one.judgement != Judgement::not_measured &&
          one.judgement != Judgement::not_decided)
        tested.push_back(&one), p.push_back(p_of(one));
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < tested.size(); ++i)
    if (adjusted[i] > kLevel) tested[i]->judgement = Judgement::unclear;
  return ledger;
}

std::size_t JudgedClaim::count(Judgement judgement) const {
  return static_cast<std::size_t>(std::count_if(
      measures.begin(), measures.end(), [&](const Judged& one) { return one.judgement == judgement; }));
}

bool JudgedClaim::misses_parts() const {
  const std::size_t missing = count(Judgement::not_measured);
  return claim->all_needed && missing > 0 && count(Judgement::holds) + missing == measures.size();
}

std::string JudgedClaim::head() const {
  if (claim->measures.empty()) return "not testable here";
  const std::size_t holding = count(Judgement::holds), failing = count(Judgement::fails),
                    not_decided = count(Judgement::not_decided),
                    unclear = count(Judgement::unclear) + not_decided;
  if (holding + failing + unclear == 0) return "not measured";
  if (failing > 0 && claim->disputed) return "disputed";
  if (failing > 0 && (holding == 0 || claim->all_needed)) return "false";
  if (failing == 0 && unclear > 0 && (holding == 0 || claim->all_needed))
    return unclear == not_decided ? "not decided" : "unclear";
  if (misses_parts()) return "not decided";
  return failing + unclear > 0 ? "holds only where" : "holds";
}

std::string JudgedClaim::verdict() const {
  const std::string open =
      count(Judgement::not_measured) == 0
          ? ""
          : fmt::format(" ({} of {} measured)", measures.size() - count(Judgement::not_measured),
                        measures.size());
  const std::string word = head();
  const char* const preposition = claim->all_needed ? "in" : "where";
  std::vector<std::string> kinds;
  const auto add = [&](const char* kind, Judgement judgement) {
    if (count(judgement) > 0)
      kinds.push_back(fmt::format("{} {}: {}", kind, preposition, places(measures, judgement)));
  };
  add(word == "holds only where" ? "holds only" : "holds", Judgement::holds);
  add(claim->disputed ? "not so" : "false", Judgement::fails);
  add("unclear", Judgement::unclear);
  add("not decided", Judgement::not_decided);
  if (word == "not decided" && misses_parts()) {
    add("not measured", Judgement::not_measured);
    return fmt::format("{}; {}", word, fmt::join(kinds, "; "));
  }
  if (word == "not decided" && kinds.size() < 2) return kinds.front() + open;
  if (kinds.empty()) return word;
  if (kinds.size() < 2) return word + (word == "disputed" ? ": not so here" : "") + open;
  return (kinds.front().starts_with(word) ? "" : word + "; ") + fmt::format("{}", fmt::join(kinds, "; ")) +
         open;
}

std::string JudgedClaim::short_verdict() const {
  const std::string word = head();
  std::vector<std::string> kinds;
  const auto add = [&](const char* kind, Judgement judgement) {
    if (count(judgement) > 0) kinds.push_back(fmt::format("{} in {}", kind, count(judgement)));
  };
  add("holds", Judgement::holds);
  add(claim->disputed ? "not so" : "false", Judgement::fails);
  add("unclear", Judgement::unclear);
  add("not decided", Judgement::not_decided);
  if (word == "not decided" && misses_parts()) add("not measured", Judgement::not_measured);
  if (kinds.size() < 2) return word == "not decided" ? word : verdict();
  const bool says_it = word == "holds only where" || kinds.front().starts_with(word);
  return fmt::format("{}{} of {}", says_it ? "" : word + ": ", fmt::join(kinds, ", "), measures.size());
}

std::string format_figure(const Judged& judged) {
  if (judged.seeds == 0) return "not measured";
  const auto text = [](double value) { return kit::number_text(value, 3); };
  if (judged.measure->estimate == Estimate::exact) return text(judged.figure) + " (exact)";
  if (judged.seeds < kLeastSeeds)
    return fmt::format("{} ({})", text(judged.figure),
                       counted(static_cast<std::int64_t>(judged.seeds), "seed"));
  return fmt::format("{} ({} to {})", text(judged.figure), text(judged.interval.low),
                     text(judged.interval.high));
}

std::string judgement_label(Judgement judgement) {
  switch (judgement) {
    case Judgement::holds:
      return "yes";
    case Judgement::fails:
      return "no";
    case Judgement::unclear:
      return "unclear";
    case Judgement::not_decided:
      return "not decided";
    case Judgement::not_measured:
      return "";
  }
  return {};
}

std::string describe_outcome(const Judged& judged) {
  const std::string word = judged.judgement == Judgement::not_measured && !judged.why.empty()
                               ? "not measured"
                               : judgement_label(judged.judgement);
  return word + (judged.why.empty() ? "" : ": " + judged.why);
}

std::string format_scope(const JudgedClaim& judged) {
  return judged.scope.empty() || judged.head().starts_with("not ") ? "" : fmt::format(" ({})", judged.scope);
}

std::string against_prediction(const Judged& judged) {
  const std::string words = describe_outcome(judged);
  if (!judged.measure->prediction) return words;
  if (judged.judgement == *judged.measure->prediction) return words + ", as predicted";
  return fmt::format("{}{}predicted: {}", words, words.empty() ? "" : "; ",
                     judgement_label(*judged.measure->prediction));
}

std::string format_band(const Measure& measure) {
  const auto text = [](double value) { return kit::number_text(value, 3); };
  if (std::isinf(measure.low)) return "at most " + text(measure.high);
  if (std::isinf(measure.high)) return "at least " + text(measure.low);
  return text(measure.low) + " to " + text(measure.high);
}

std::string describe_interval(Estimate estimate, std::size_t measures) {
  const std::string level = kit::number_text(100 * level_of(measures), 3) + "%";
  switch (estimate) {
    case Estimate::mean_t:
      return level + " t interval";
    case Estimate::mean_bootstrap:
      return level + " bootstrap interval";
    case Estimate::mean_logit:
      return level + " t interval of logits";
    case Estimate::median:
      return level + " interval of the median";
    case Estimate::share:
      return level + " Clopper-Pearson interval";
    case Estimate::exact:
      return "exact";
  }
  return {};
}

}  // namespace gradus::lab
