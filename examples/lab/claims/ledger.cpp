#include "lab/claims/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/analysis/statistics.h"

namespace gradus::lab {

namespace {

double level_of(std::size_t measures) {
  return 1 - kLevel / static_cast<double>(std::max<std::size_t>(measures, 1));
}

std::int64_t above_zero(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// The value that speaks most against the band.
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
    if (judged.judgement == judgement) words += (words.empty() ? "" : "; ") + judged.measure->where;
  return words;
}

}  // namespace

JudgedClaim judge(const Claim& claim, const Figures& figures) {
  JudgedClaim judged{.claim = &claim, .measures = {}};
  for (const Measure& measure : claim.measures) {
    Judged& one = judged.measures.emplace_back(Judged{.measure = &measure});
    const auto found = figures.find(measure.id);
    if (found == figures.end() || found->second.empty()) continue;
    one.seeds = found->second.size();
    estimate(one, found->second, level_of(claim.measures.size()));
    one.judgement = judgement_of(measure, one.interval);
  }
  return judged;
}

std::string JudgedClaim::verdict() const {
  if (claim->measures.empty()) return "not testable here";
  const auto count = [&](Judgement judgement) {
    return static_cast<std::size_t>(std::count_if(
        measures.begin(), measures.end(), [&](const Judged& one) { return one.judgement == judgement; }));
  };
  const std::size_t all = measures.size();
  if (count(Judgement::not_measured) == all) return "not measured";
  const std::size_t judged = all - count(Judgement::not_measured);
  std::string words;
  if (count(Judgement::holds) == judged)
    words = "holds";
  else if (count(Judgement::fails) == judged)
    words = claim->disputed ? "disputed: not so here" : "false";
  else if (count(Judgement::unclear) == judged)
    words = "unclear";
  else if (count(Judgement::holds) > 0)
    words = "holds only where: " + places(measures, Judgement::holds);
  else
    words = fmt::format("{} where: {}", claim->disputed ? "disputed: not so" : "false",
                        places(measures, Judgement::fails));
  if (const std::string open = places(measures, Judgement::unclear); words != "unclear" && !open.empty())
    words += "; unclear where: " + open;
  if (judged < all) words += fmt::format(" ({} of {} measured)", judged, all);
  return words;
}

std::string words_of(const Judged& judged) {
  if (judged.judgement == Judgement::not_measured) return "not measured";
  const auto text = [](double value) { return kit::number_text(value, 3); };
  if (judged.measure->estimate == Estimate::exact) return text(judged.figure) + " (exact)";
  if (judged.seeds < 2) return text(judged.figure) + " (one seed)";
  return fmt::format("{} ({} to {})", text(judged.figure), text(judged.interval.low),
                     text(judged.interval.high));
}

std::string band_words(const Measure& measure) {
  const auto text = [](double value) { return kit::number_text(value, 3); };
  if (std::isinf(measure.low)) return "at most " + text(measure.high);
  if (std::isinf(measure.high)) return "at least " + text(measure.low);
  return text(measure.low) + " to " + text(measure.high);
}

std::string interval_words(Estimate estimate, std::size_t measures) {
  const std::string level = kit::number_text(100 * level_of(measures), 3) + "%";
  switch (estimate) {
    case Estimate::mean_t:
      return level + " t interval";
    case Estimate::mean_bootstrap:
      return level + " bootstrap interval";
    case Estimate::share:
      return level + " Clopper-Pearson interval";
    case Estimate::exact:
      return "exact";
  }
  return {};
}

}  // namespace gradus::lab
