#include "lab/studies/compare/report/summary.h"

#include <nlohmann/json.hpp>

#include "lab/statistics/format.h"
#include "lab/studies/compare/analysis/start_sentence.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

Json or_null(const auto& value) { return value ? Json(*value) : Json(); }

bool has_final_norm(const RunOptions& run) {
  return run.final_norm.value_or(run.placement.final_norm || run.placement.leave);
}

Json setting_json(const RunOptions& run) {
  return {{"placement", name_of(run.placement)},
          {"layers", run.layers},
          {"lr", run.lr},
          {"warmup", run.warmup},
          {"final_norm", has_final_norm(run)},
          {"residual_scaling", run.residual_scaling}};
}

Json run_json(const RunRecord& run) {
  Json json = {{"name", run.options.name()}};
  json.update(setting_json(run.options));
  json.update({{"seed", run.options.seed},
               {"final_loss", or_null(run.final_loss)},
               {"diverged", run.diverged_at.has_value()},
               {"diverged_at", or_null(run.diverged_at)},
               {"start_loss", run.start_loss},
               {"parameters_sha256", run.parameters_sha256},
               {"seconds", run.seconds}});
  return json;
}

Json spread_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"std", spread.std}, {"min", spread.low}, {"max", spread.high}};
}

Json cell_json(const Cell& cell) {
  Json json = setting_json(cell.setting);
  json.update({{"runs", cell.runs.size()},
               {"diverged", cell.diverged},
               {"below_baseline", cell.learned_count()},
               {"loss", spread_json(cell.loss)},
               {"steps_to_target", cell.steps}});
  return json;
}

Json comparison_json(const Comparison& comparison) {
  const Difference& difference = comparison.difference;
  return {{"about", comparison.about}, {"mean", difference.mean},        {"min", difference.low},
          {"max", difference.high},    {"seeds_above_0", difference.up}, {"seeds_below_0", difference.down},
          {"seeds", difference.count}, {"sign_test_p", difference.p()},  {"p_corrected", comparison.p}};
}

Json comparisons_json(const Comparisons& all) {
  Json json = Json::array();
  const auto add = [&](const Comparison& one) {
    if (one.difference.count > 0) json.push_back(comparison_json(one));
  };
  add(all.learned), add(all.loss);
  for (const BestOfDepth& best : all.best) add(best.comparison);
  for (const Comparison& one : all.deepest) add(one);
  for (const AblationChange& change : all.ablations) add(change.comparison);
  return json;
}

}  // namespace

Json summary_of(const Results& results, const Analysis& analysis, const Verdict& verdict) {
  Json json = {{"verdict", verdict.sentence}, {"findings", verdict.findings}};
  json["comparisons"] = comparisons_json(verdict.comparisons);
  json["complete"] = results.complete();
  json["runs_planned"] = analysis.planned;
  json["runs_finished"] = analysis.finished;
  if (results.initialisation) {
    const Theorem1 theorem = check_theorem1(results.initialisation->states);
    if (theorem.post_ratio_L32_L2) json["theorem1"]["post_ratio_L32_L2"] = *theorem.post_ratio_L32_L2;
    if (theorem.pre_ratio_L8_L32) json["theorem1"]["pre_ratio_L8_L32"] = *theorem.pre_ratio_L8_L32;
    if (theorem.pre_norm_inside_lemma2)
      json["theorem1"]["pre_norm_inside_lemma2"] = *theorem.pre_norm_inside_lemma2;
    json["jacobian_max_error"] = results.initialisation->jacobian.max_error;
  }
  json["entropy"] = or_null(analysis.task.entropy);
  json["ngram"] = {{"n", analysis.task.ngram.n}, {"loss", analysis.task.ngram.loss}};
  json["baseline"] = {{"n", analysis.baseline.n}, {"loss", analysis.baseline.loss}};
  json["target_loss"] = analysis.target;
  json["settings"] = Json::array();
  for (const auto* cells : {&analysis.grid, &analysis.ablations})
    for (const Cell& cell : *cells)
      if (cell.any()) json["settings"].push_back(cell_json(cell));
  json["sensitivity"] = Json::array();
  for (const Sensitivity& one : analysis.sensitivities)
    if (!one.values.empty())
      json["sensitivity"].push_back({{"placement", name_of(one.placement)},
                                     {"layers", one.layers},
                                     {"warmup", one.warmup},
                                     {"values", one.values},
                                     {"mean", one.spread.mean}});
  json["runs"] = Json::array();
  for (const RunRecord& run : results.runs) json["runs"].push_back(run_json(run));
  return json;
}

}  // namespace gradus::lab::compare
