#pragma once
// The ledger: every claim with its acceptance bands, written down in data/*.json before the first run, and
// its verdict from the studies' figures. The notes of claims 44, 57 and 85 say what was decided after it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/statistics/intervals.h"

namespace gradus::lab {

enum class Judgement { holds, fails, unclear, not_decided, not_measured };

/// Why a measure is not judged by its interval.
struct Objection {
  Judgement judgement = Judgement::not_decided;
  std::string why;  // "the search ends at its edge: Post-LN, 24 layers"
};

/// One number per seed for each measure, by its id ("sensitivity.L12"), and the objections of the referee
/// (referee.h).
struct Figures : std::map<std::string, std::vector<double>> {
  using map::map;
  std::map<std::string, Objection> objections = {};
  std::map<std::string, double> headroom = {};  // the best arm's distance to the lowest possible figure
  /// Of several objections to a measure the first counts.
  void object(const std::string& id, const std::optional<Objection>& objection) {
    if (objection) objections.try_emplace(id, *objection);
  }
};

/// How the figure of a measure and its interval are computed from one number per seed.
enum class Estimate {
  mean_t,          // mean, Student's t interval
  mean_bootstrap,  // mean, bootstrap interval
  mean_logit,      // mean of numbers that are shares themselves, t interval on the logit scale
  median,          // median, the interval of order statistics: the sign test asked of every value
  share,           // share of seeds with a number above 0, Clopper and Pearson's interval
  exact            // without chance: the number furthest outside the band, no interval
};

/// One condition of a claim.
struct Measure {
  std::string id;     // of the study's figures: "sensitivity.L12"
  std::string where;  // "12 layers"; empty: everywhere
  std::string what;   // with its unit: "sensitivity, Post-LN minus Pre-LN (nats)"
  Estimate estimate = Estimate::mean_t;
  double low = 0, high = 0;  // the band the whole interval lies in if the claim holds; infinite: open
  bool quick = true;         // whether the quick form measures it
  // Whether its band holds, as it was expected before the first run; nothing where no prediction was made.
  std::optional<Judgement> prediction = {};
};

/// A statement of teaching texts or papers, in one sentence.
struct Claim {
  int number = 0;
  std::string text;
  std::string source;  // who says it: author, year, section
  std::string study;   // that measures it; empty: not testable here
  std::vector<Measure> measures = {};
  std::string note = {};        // remarks on the verdict; for an untestable claim the reason, with a citation
  std::string paper = {};       // a paper's result and setting, where ours may differ
  std::string prediction = {};  // the outcome expected before the first run, and why
  std::string scope = {};       // where its verdict applies, if not the study's: "12 layers, width 32, ..."
  std::vector<std::string> phrases = {};  // words by which a page is recognized to state it
  bool disputed = false;                  // in the literature: a result against a paper does not settle it
  bool all_needed = false;  // its measures are parts of one statement, not places where it may hold
};

/// The claims of a list in JSON; docs/studies.md, "Your own study", lists the names.
std::vector<Claim> claims_in(const std::string& json);
/// All claims in order, from data/*.json, which are compiled in.
const std::vector<Claim>& claims();
/// Throws for an unknown number, naming the valid ones.
const Claim& claim_numbered(int number);

/// A measure against its band.
struct Judged {
  const Measure* measure = nullptr;
  std::size_t seeds = 0;
  double figure = 0;
  Interval interval = {};
  Judgement judgement = Judgement::not_measured;
  std::string why = {};             // the reason if it is not decided or not measured
  std::vector<double> values = {};  // one a seed
};

/// With fewer seeds a figure has no interval.
inline constexpr std::size_t kLeastSeeds = 5;

/// The interval inside the band: it holds; outside: it fails; across its edge: unclear. With several measures
/// each interval has level 1 - 0.05/m (Bonferroni), so that all m cover together with probability 0.95. Not
/// decided, and why: fewer than kLeastSeeds, a band wider than a third of the headroom, an objection.
struct JudgedClaim {
  const Claim* claim = nullptr;
  std::vector<Judged> measures;
  std::string form = {};  // the form of its study: "quick form", "full form, 12 of 26 runs"
  std::string scope =
      {};  // where the verdict applies: "width 32, 380 steps, recall language, N(0, 1/fan_in)"
  /// "holds", "holds only where", "false", "disputed", "unclear", "not decided", "not measured", "not
  /// testable here". A claim that needs all its measures is false if one of them is, a disputed one then
  /// disputed; if the others hold, it is not decided until all are.
  std::string head() const;
  /// With the places of each kind: "holds only where: 2 layers; false where: 12 layers".
  std::string verdict() const;
  /// With their numbers: "holds in 1, false in 1 of 2".
  std::string short_verdict() const;

 private:
  std::size_t count(Judgement judgement) const;
  /// Whether all its measured parts hold, and parts that it needs are not measured.
  bool misses_parts() const;
};

JudgedClaim judge(const Claim& claim, const Figures& figures);

/// The smallest error at which the measure would have the same verdict: its p-value. 1 for a measure that its
/// interval does not decide; 0 for an exact one that is decided.
double p_of(const Judged& judged);

/// The ledger after a correction over all its measures (Benjamini and Hochberg 1995): measures with an
/// adjusted p above 0.05 become unclear.
std::vector<JudgedClaim> corrected(std::vector<JudgedClaim> ledger);

/// Whether the band holds: "yes", "no", "unclear", "not decided"; empty if it was not measured.
std::string judgement_label(Judgement judgement);
/// The same with the reason: "not decided: 3 seeds".
std::string describe_outcome(const Judged& judged);
/// " (recall language, width 32, ...)": where a verdict applies; empty where nothing was measured.
std::string format_scope(const JudgedClaim& judged);
/// "yes, as predicted", "no; predicted: yes"; the outcome alone where nothing was predicted.
std::string against_prediction(const Judged& judged);
/// "0.12 (0.05 to 0.19)", "0.12 (exact)".
std::string format_figure(const Judged& judged);
/// "above 0", "0.8 to 1.4".
std::string format_band(const Measure& measure);
/// "95% t interval", "98.3% bootstrap interval": of one of m measures.
std::string describe_interval(Estimate estimate, std::size_t measures);

}  // namespace gradus::lab
