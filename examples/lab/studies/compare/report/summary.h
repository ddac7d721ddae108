#pragma once
// summary.json: the results in short, for programs.

#include "lab/studies/compare/analysis/verdict.h"
#include "lab/study/json_files.h"

namespace gradus::lab::compare {

/// Keys: theorem1.{post_ratio_L32_L2, pre_ratio_L8_L32, pre_norm_inside_lemma2} where the theorem is about
/// one of the two, jacobian_max_error, runs[].{name, placement, layers, lr, warmup, seed, final_norm,
/// residual_scaling, final_loss or null, diverged, parameters_sha256, ...}, comparisons[].{about, mean, min,
/// max, seeds_above_0, seeds_below_0, seeds, sign_test_p, p_corrected}, settings, sensitivity, verdict,
/// complete, ...
Json summary_of(const Results& results, const Analysis& analysis, const Verdict& verdict);

}  // namespace gradus::lab::compare
