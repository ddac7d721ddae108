#include "lab/verdict.h"

#include <doctest/doctest.h>

#include <cmath>

#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;
using nn::Placement;
using test::jitter;
using test::made_up;
using test::made_up_start;
using test::small_grid;

namespace {

Verdict verdict_on(const Results& results) { return verdict_of(analyse(results), results.initialisation); }

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string finding(const Verdict& verdict, const std::string& start) {
  for (const std::string& text : verdict.findings)
    if (text.starts_with("**" + start)) return text;
  return "";
}

/// `fragile` ends at the unigram's loss when deep and fast, unless warmed up at 6 layers.
test::Outcome one_fails(Placement fragile) {
  return [fragile](const RunOptions& run) -> std::optional<double> {
    const bool fails = run.layers == 12 || (run.layers == 6 && run.lr > 0.001 && run.warmup == 0);
    return (run.placement == fragile && fails ? 2.9 : 0.93) + jitter(run);
  };
}

}  // namespace

TEST_CASE("Post-LN fails where it is deep") {
  Results results = made_up(small_grid(), one_fails(Placement::post));
  results.initialisation = made_up_start();
  const Verdict verdict = verdict_on(results);
  CHECK(verdict.sentence ==
        "Pre-LN trained more reliably: 54 of 54 runs ended below the 3-gram baseline, against 30 for "
        "Post-LN; each at its best rate and warm-up, there is no clear difference at 2 and 6 layers and "
        "Pre-LN ends lower at 12 layers (0.932 against 2.902).");
  CHECK(finding(verdict, "Depth") ==
        "**Depth.** Runs that ended below the 3-gram baseline: with 2 layers Pre-LN 18 of 18, Post-LN 18 of "
        "18; with 6 layers Pre-LN 18 of 18, Post-LN 12 of 18; with 12 layers Pre-LN 18 of 18, Post-LN 0 of "
        "18.");
  CHECK(finding(verdict, "Warm-up") ==
        "**Warm-up.** With 100 steps of it instead of none: no Pre-LN run had failed; 6 of 15 Post-LN runs "
        "that "
        "had failed came below the baseline.");
  CHECK(says(finding(verdict, "Learning rate"), "Post-LN came below the baseline at no rate there"));
  CHECK(says(finding(verdict, "Start"), "in line with Theorem 1"));
  CHECK(says(finding(verdict, "3 seeds"), "95% interval"));
}

TEST_CASE("the opposite result gives the opposite verdict") {
  const Verdict verdict = verdict_on(made_up(small_grid(), one_fails(Placement::pre)));
  CHECK(verdict.sentence ==
        "Post-LN trained more reliably: 54 of 54 runs ended below the 3-gram baseline, against 30 for "
        "Pre-LN; each at its best rate and warm-up, there is no clear difference at 2 and 6 layers and "
        "Post-LN ends lower at 12 layers (0.932 against 2.902).");
  CHECK(says(finding(verdict, "Warm-up"), "no Post-LN run had failed"));
}

TEST_CASE("no difference is called no difference") {
  const Verdict verdict = verdict_on(made_up(small_grid(), [](const RunOptions& run) {
    // The placements differ by noise that changes sign with the seed.
    const double noise = run.placement == Placement::post ? 0.01 * (static_cast<double>(run.seed) - 1) : 0;
    return 0.93 + jitter(run) + noise;
  }));
  CHECK(verdict.sentence ==
        "No clear difference over all settings: Pre-LN ended below the 3-gram baseline in 54 of 54 runs, "
        "Post-LN in 54, and the mean loss differs by 0.000 ± 0.025 nats per character (95% interval); each "
        "at its best rate and warm-up, there is no clear difference at 2, 6 and 12 layers.");
  CHECK(says(finding(verdict, "Ablations"), "Pre-LN without its final norm 0.000 ± 0.000 (unclear)"));
}

TEST_CASE("when all runs learn, the lower loss decides") {
  const auto post_lower = [](const RunOptions& run) {
    return (run.placement == Placement::post ? 0.925 : 0.935) + jitter(run);
  };
  const Verdict verdict = verdict_on(made_up(small_grid(), post_lower));
  CHECK(verdict.sentence ==
        "Post-LN reached the lower loss, by 0.010 nats per character on average over all settings (Pre-LN "
        "ended below the 3-gram baseline in 54 of 54 runs, Post-LN in 54); each at its best rate and "
        "warm-up, Post-LN ends lower at 2 layers (0.927 against 0.937), 6 layers (0.926 against 0.936) and "
        "12 layers (0.927 against 0.937).");
}

TEST_CASE("reliability and loss may disagree") {
  const Verdict verdict = verdict_on(made_up(small_grid(), [](const RunOptions& run) {
    if (run.placement == Placement::pre) return 1.39 + 0.1 * jitter(run);  // always just below the baseline
    return (run.layers == 12 ? 1.45 : 0.92) + 0.1 * jitter(run);
  }));
  CHECK(says(verdict.sentence, "Pre-LN trained more reliably: 54 of 54"));
  CHECK(says(verdict.sentence, ", though Post-LN ended lower by 0.2"));
}

TEST_CASE("one seed decides nothing") {
  const Verdict verdict = verdict_on(made_up(small_grid(1), one_fails(Placement::post)));
  CHECK(verdict.sentence ==
        "One seed shows no spread to judge by: Pre-LN ended below the 3-gram baseline in 18 of 18 runs, "
        "Post-LN in 10.");
  CHECK(says(finding(verdict, "One seed"), "Use at least 3"));
}

TEST_CASE("a lab that was stopped says what is missing") {
  Results results = made_up(small_grid(), one_fails(Placement::post));
  results.runs.resize(20);
  const Verdict verdict = verdict_on(results);
  CHECK(says(finding(verdict, "Unfinished"), "20 of 120 runs are in"));
  results.runs.clear();
  results.initialisation = made_up_start();
  const Verdict none = verdict_on(results);
  CHECK(none.sentence ==
        "No setting has finished with both placements, so nothing can be said about training yet.");
  CHECK(none.findings.size() == 2);  // the start, and that runs are missing
}

TEST_CASE("the theorem is confirmed only when it is") {
  const auto sentence = [](double post_slope, double pre_slope) {
    return theorem_sentence(check_theorem1(made_up_start(post_slope, pre_slope).states));
  };
  CHECK(says(sentence(0, -0.5), "does not depend on depth in Post-LN (32 layers over 2: 1.00)"));
  CHECK(says(sentence(0, -0.5),
             "shrinks with it in Pre-LN (8 layers over 32: 2.00; 1/√L gives 2), in line with"));
  CHECK(says(sentence(0.5, -0.5), "changes with depth in Post-LN (32 layers over 2: 4.00)"));
  CHECK(says(sentence(0.5, -0.5), "not in line with"));
  CHECK(says(sentence(0, 0), "does not shrink like 1/√L in Pre-LN"));
  CHECK(says(sentence(0, 0), "stay within"));
  Initialisation start = made_up_start();
  start.states[0].norm_squared[0] = 9;
  CHECK(says(theorem_sentence(check_theorem1(start.states)), "activations leave the bounds"));
}

TEST_CASE("a diverged run is a run that failed") {
  const Verdict verdict =
      verdict_on(made_up(small_grid(), [](const RunOptions& run) -> std::optional<double> {
        if (run.placement == Placement::post && run.lr == 0.01) return std::nullopt;
        return 0.93 + jitter(run);
      }));
  CHECK(says(verdict.sentence, "54 of 54 runs ended below the 3-gram baseline, against 36 for Post-LN"));
  CHECK(says(finding(verdict, "Learning rate"), "Post-LN clearly depends more on it"));
}

TEST_CASE("a grid with one rate, one depth and one warm-up is judged by what it has") {
  LabOptions options = small_grid();
  options.depths = {6};
  options.lrs = {0.003};
  options.warmups = {50};
  const Verdict verdict = verdict_on(made_up(options, [](const RunOptions& run) {
    return (run.placement == Placement::post ? 1.2 : 1.0) + jitter(run);
  }));
  CHECK(says(verdict.sentence, "Pre-LN reached the lower loss, by 0.200"));
  CHECK(finding(verdict, "Learning rate").empty());
  CHECK(finding(verdict, "Warm-up").empty());
}
