#include "lab/studies/compare/analysis/verdict.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lab/studies/compare/analysis/start_sentence.h"
#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;
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
test::Outcome one_fails(const nn::Placement& fragile) {
  return [fragile](const RunOptions& run) -> std::optional<double> {
    const bool fails = run.layers == 12 || (run.layers == 6 && run.lr > 0.001 && run.warmup == 0);
    return (run.placement == fragile && fails ? 2.9 : 0.93) + jitter(run);
  };
}

}  // namespace

TEST_CASE("Post-LN fails in deep models") {
  Results results = made_up(small_grid(6), one_fails(nn::post_ln()));
  results.initialisation = made_up_start();
  const Verdict verdict = verdict_on(results);
  CHECK(
      verdict.sentence ==
      "Pre-LN trained more reliably: 108 of 108 runs ended below the 3-gram baseline, against 60 for "
      "Post-LN, "
      "ahead in 6 of 6 seeds (p = 0.031); the mean loss over all settings is lower for Pre-LN in 6 of 6 "
      "seeds, "
      "Post − Pre +0.876 (+0.876 to +0.876); that at the best rate and warm-up of each seed is lower for "
      "neither "
      "in any seed with 2 layers (0.932 against 0.932), for neither in any seed with 6 layers (0.932 against "
      "0.932) and for Pre-LN in 6 of 6 seeds with 12 layers (0.932 against 2.902).");
  CHECK(finding(verdict, "Depth") ==
        "**Depth.** Runs that ended below the 3-gram baseline: with 2 layers Pre-LN 36 of 36, Post-LN 36 of "
        "36; with 6 layers Pre-LN 36 of 36, Post-LN 24 of 36; with 12 layers Pre-LN 36 of 36, Post-LN 0 of "
        "36.");
  CHECK(finding(verdict, "Warm-up") ==
        "**Warm-up.** With 100 steps of it instead of none: no Pre-LN run had failed; 12 of 30 Post-LN runs "
        "that had failed came below the baseline.");
  CHECK(says(finding(verdict, "Learning rate"), "Post-LN did not come below the baseline at any rate there"));
  CHECK(says(finding(verdict, "Start"), "So do the upper bounds of Theorem 1"));
  CHECK(finding(verdict, "6 seeds") ==
        "**6 seeds** per setting. Runs of one seed share data and, at equal depth, weights, so seeds are "
        "counted, not runs: all 6 fall on one side by chance with p = 0.031 (exact sign test), the smallest "
        "p that 6 seeds can show. The first question, which placement learns on more settings, is tested "
        "alone. The other 9 are called clear only if p < 0.05 after Holm's correction for that many, which "
        "takes 9 seeds that agree. In brackets: the range over seeds.");
}

TEST_CASE("a best rate at the edge of the grid is named") {
  // Post-LN: the lower the better with 12 layers; with 2 layers one seed of 6 is best at the highest rate.
  const auto outcome = [](const RunOptions& run) {
    double loss = 0.93 + jitter(run) + (run.lr == 0.003 ? 0 : 0.01);
    if (run.placement == nn::post_ln() && run.layers == 12) loss = 1 + run.lr;
    if (run.placement == nn::post_ln() && run.layers == 2 && run.seed == 4 && run.lr == 0.01) loss = 0.92;
    return loss;
  };
  const Verdict verdict = verdict_on(made_up(small_grid(6), outcome));
  CHECK(finding(verdict, "Best rates") ==
        "**Best rates.** Some are at the edge of the grid, and better ones may lie outside it: with 2 layers "
        "Post-LN's is the highest, 0.01, in 1 of 6 seeds and with 12 layers Post-LN's is the lowest, 0.001, "
        "in 6 of 6 seeds.");
  CHECK(says(verdict.sentence, "with 12 layers (0.932 against 1.001, Post-LN's at the lowest rate tried)."));
  CHECK_FALSE(says(verdict.sentence, "highest rate"));  // one seed is not most of them

  const auto inside = [](const RunOptions& run) { return run.lr == 0.003 ? 0.93 : 0.95; };
  CHECK(finding(verdict_on(made_up(small_grid(6), inside)), "Best rates").empty());
  Settings two = small_grid(6);
  two.lrs = {0.003, 0.01};
  CHECK(finding(verdict_on(made_up(two, inside)), "Best rates") ==
        "**Best rates.** Only 0.003 and 0.01 were tried; better ones may lie elsewhere.");
}

TEST_CASE("for a single setting the verdict states the lower loss once") {
  Settings one = small_grid(2);
  one.depths = {2}, one.lrs = {0.003}, one.warmups = {0};
  const auto outcome = [](const RunOptions& run) { return run.placement == nn::post_ln() ? 0.95 : 0.93; };
  const auto sentence = [&] { return verdict_on(made_up(one, outcome)).sentence; };
  CHECK(says(sentence(), "the mean loss over all settings is lower for Pre-LN in 2 of 2 seeds"));
  CHECK_FALSE(says(sentence(), "best rate"));
  one.warmups = {0, 100};  // now there is a best one
  CHECK(says(sentence(),
             "; that at the best rate and warm-up of each seed is lower for Pre-LN in 2 of 2 seeds"));
}

TEST_CASE("the opposite result gives the opposite verdict") {
  const Verdict verdict = verdict_on(made_up(small_grid(6), one_fails(nn::pre_ln())));
  CHECK(
      verdict.sentence.starts_with("Post-LN trained more reliably: 108 of 108 runs ended below the 3-gram "
                                   "baseline, against 60 for Pre-LN, ahead "
                                   "in 6 of 6 seeds (p = 0.031); the mean loss over all settings is lower "
                                   "for Post-LN in 6 of 6 seeds, Post − Pre "
                                   "−0.876"));
  CHECK(says(verdict.sentence, "for Post-LN in 6 of 6 seeds with 12 layers (0.932 against 2.902)."));
  CHECK(says(finding(verdict, "Warm-up"), "no Post-LN run had failed"));
}

TEST_CASE("seeds that agree but are too few decide nothing") {
  for (const std::int64_t seeds : {2, 3, 5}) {
    CAPTURE(seeds);
    const Verdict verdict = verdict_on(made_up(small_grid(seeds), one_fails(nn::post_ln())));
    CHECK_FALSE(says(verdict.sentence, "more reliably"));
    CHECK(says(verdict.sentence, "which are too few to exclude chance"));
    CHECK_FALSE(says(finding(verdict, "Learning rate") + finding(verdict, "Ablations"), "clearly"));
  }
  CHECK(verdict_on(made_up(small_grid(3), one_fails(nn::post_ln())))
            .sentence.starts_with("Pre-LN was ahead in each of 3 seeds, which are too few to exclude chance "
                                  "(p = 0.25; from 6 on they "
                                  "could be enough): 54 of 54 runs ended below the 3-gram baseline, against "
                                  "30 for Post-LN; the mean "
                                  "loss over all settings is lower for Pre-LN in 3 of 3 seeds"));
}

TEST_CASE("many runs of few seeds decide nothing") {
  // 36 pairs of runs in which only Pre-LN learned, 1 in which only Post-LN did; but they are 2 seeds and 1.
  const Verdict verdict = verdict_on(made_up(small_grid(), [](const RunOptions& run) {
    const bool fails = run.placement == nn::post_ln() ? run.seed < 2 : run.name() == "pre-L6-lr0.003-w0-s2";
    return fails ? 2.9 : 0.93 + jitter(run);
  }));
  CHECK(
      verdict.sentence.starts_with("No clear difference in reliability: Pre-LN ended below the 3-gram "
                                   "baseline in 53 of 54 runs, Post-LN in 18 "
                                   "(Pre-LN ahead in 2 of 3 seeds, Post-LN in 1); the mean loss over all "
                                   "settings is lower for Pre-LN in 2 of 3 "
                                   "seeds"));
}

TEST_CASE("no difference is called no difference") {
  const Verdict verdict = verdict_on(made_up(small_grid(), [](const RunOptions& run) {
    // The placements differ by noise that changes sign with the seed.
    const double noise = run.placement == nn::post_ln() ? 0.01 * (static_cast<double>(run.seed) - 1) : 0;
    return 0.93 + jitter(run) + noise;
  }));
  CHECK(
      verdict.sentence.starts_with("No clear difference in reliability: Pre-LN ended below the 3-gram "
                                   "baseline in 54 of 54 runs, Post-LN in 54 "
                                   "(Pre-LN ahead in 0 of 3 seeds, Post-LN in 0); the mean loss over all "
                                   "settings is lower for each in 1 of 3 "
                                   "seeds, Post − Pre 0.000 (−0.010 to +0.010); that at the best rate and "
                                   "warm-up of each seed is lower for each "
                                   "in 1 of 3 seeds with 2 layers"));
  CHECK(says(finding(verdict, "Ablations"),
             "Pre-LN without its final norm 0.000 (0.000 to 0.000), up in as many seeds as down, 0"));
}

TEST_CASE("a result on which many seeds agree is clear") {
  const Verdict verdict = verdict_on(made_up(small_grid(9), [](const RunOptions& run) {
    return (run.placement == nn::post_ln() ? 0.925 : 0.935) + (run.final_norm ? 0.1 : 0) + jitter(run);
  }));
  CHECK(
      says(verdict.sentence, "the mean loss over all settings is lower for Post-LN in 9 of 9 seeds (clear)"));
  CHECK(says(verdict.sentence, "for Post-LN in 9 of 9 seeds (clear) with 12 layers"));
  CHECK(says(finding(verdict, "Ablations"),
             "Post-LN with a final norm +0.100 (+0.100 to +0.100), clearly up in 9 of 9 seeds"));
}

TEST_CASE("reliability and loss may disagree") {
  const Verdict verdict = verdict_on(made_up(small_grid(6), [](const RunOptions& run) {
    if (run.placement == nn::pre_ln()) return 1.39 + 0.1 * jitter(run);  // always just below the baseline
    return (run.layers == 12 ? 1.45 : 0.92) + 0.1 * jitter(run);
  }));
  CHECK(says(verdict.sentence, "Pre-LN trained more reliably: 108 of 108"));
  CHECK(says(verdict.sentence,
             "the mean loss over all settings is lower for Post-LN in 6 of 6 seeds, Post − Pre −0.2"));
}

TEST_CASE("one seed decides nothing") {
  const Verdict verdict = verdict_on(made_up(small_grid(1), one_fails(nn::post_ln())));
  CHECK(verdict.sentence ==
        "One seed shows no spread to judge by: Pre-LN ended below the 3-gram baseline in 18 of 18 runs, "
        "Post-LN in 10.");
  CHECK(says(finding(verdict, "One seed"), "Use at least 6"));
  CHECK(says(finding(verdict, "Ablations"), "Post-LN with a final norm 0.000;"));
}

TEST_CASE("one seed so far is not called the only one") {
  Results results = made_up(small_grid(2), one_fails(nn::post_ln()));
  std::erase_if(results.runs, [](const RunRecord& run) { return run.options.seed != 0; });
  CHECK(verdict_on(results).sentence.starts_with("Only one of 2 seeds has runs of both placements so far"));
}

TEST_CASE("a stopped lab says which runs are missing") {
  Results results = made_up(small_grid(), one_fails(nn::post_ln()));
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

TEST_CASE(
    "gradients are reported as following the theorem's bounds only if they do, and no smaller gradient "
    "contradicts it") {
  const auto sentence = [](double post_slope, double pre_slope) {
    return start_sentence(made_up_start(post_slope, pre_slope).states, Settings().placements);
  };
  CHECK(says(sentence(0, -0.5), "is about the same at any depth in Post-LN (32 layers over 2: 1.00)"));
  CHECK(
      says(sentence(0, -0.5), "shrinks with depth in Pre-LN (8 layers over 32: 2.00; 1/√L gives 2). So do"));
  CHECK(says(sentence(0, -0.5), "stays within the bounds of their Lemma 2"));
  CHECK(says(sentence(0.5, -0.5), "changes with depth in Post-LN (32 layers over 2: 4.00)"));
  CHECK(says(sentence(0, 0), "does not shrink like 1/√L in Pre-LN"));
  for (const auto& [post, pre] : {std::pair{0.5, -0.5}, {-0.5, -0.5}, {0.0, 0.0}, {0.0, -2.0}}) {
    CHECK(says(sentence(post, pre), "but gradients below a bound do not contradict it"));
    CHECK_FALSE(says(sentence(post, pre), "not in line"));
  }
  Initialisation start = made_up_start();
  start.states[0].norm_squared[0] = 9;
  CHECK(says(start_sentence(start.states, Settings().placements), "activations leaves the bounds"));
}

TEST_CASE("a diverged run is a run that failed") {
  const Verdict verdict =
      verdict_on(made_up(small_grid(6), [](const RunOptions& run) -> std::optional<double> {
        if (run.placement == nn::post_ln() && run.lr == 0.01) return std::nullopt;
        return 0.93 + jitter(run);
      }));
  CHECK(says(verdict.sentence, "108 of 108 runs ended below the 3-gram baseline, against 72 for Post-LN"));
  CHECK(says(finding(verdict, "Learning rate"), "Post-LN depends on it more, in 6 of 6 seeds"));
}

TEST_CASE("a grid with one rate, one depth and one warm-up is judged, too") {
  Settings options = small_grid(6);
  options.depths = {6};
  options.lrs = {0.003};
  options.warmups = {50};
  const Verdict verdict = verdict_on(made_up(options, [](const RunOptions& run) {
    return (run.placement == nn::post_ln() ? 1.2 : 1.0) + jitter(run);
  }));
  CHECK(says(verdict.sentence, "No clear difference in reliability"));
  CHECK(says(verdict.sentence, "is lower for Pre-LN in 6 of 6 seeds, Post − Pre +0.200"));
  CHECK(finding(verdict, "Learning rate").empty());
  CHECK(finding(verdict, "Warm-up").empty());
}
