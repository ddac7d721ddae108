// Layer norm: its geometry, eps and dependence on other tokens, each measured on the library's own modules.

#include <fmt/format.h>

#include "lab/studies/layer_norm/parts.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace layer_norm_parts {

const std::vector<std::string>& ids() {
  static const std::vector<std::string> all = {"radius.d16",
                                               "radius.d64",
                                               "radius.d256",
                                               "mean-token-cosine",
                                               "mean-radial-cosine",
                                               "eps-outside.1",
                                               "eps-outside.0.01",
                                               "eps-outside.0.001",
                                               "ln.mode",
                                               "ln.batch",
                                               "ln.generation",
                                               "bn.mode",
                                               "bn.batch",
                                               "bn.one",
                                               "group-batch",
                                               "group-batch-others",
                                               "thrice.output",
                                               "thrice.gradient",
                                               "thrice.time"};
  return all;
}

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, options.budget == Budget::quick ? 5 : 30);
}

std::string token_run(std::uint64_t seed) { return "token-s" + std::to_string(seed); }
Runs tokens_of(const StudyResults& results) { return {results, seeds_of(results.options), token_run}; }
std::string plane_run(const StudyOptions& options) { return "plane-s" + std::to_string(options.seed); }

namespace {

std::vector<StudyRun> layer_norm_plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : seeds_of(options))
    runs.push_back({.name = token_run(seed), .seconds = 0.1, .measure = [seed] {
                      Measured measured;
                      measure_geometry(measured, seed);
                      measure_batches(measured, seed);
                      measure_thrice(measured, seed);
                      return measured;
                    }});
  runs.push_back({.name = plane_run(options), .seconds = 0.01, .measure = [seed = options.seed] {
                    return measure_plane(seed);
                  }});
  return runs;
}

Figures layer_norm_figures(const StudyResults& results) {
  Figures all;
  for (const std::string& id : ids()) all[id] = tokens_of(results).numbers(id);
  return all;
}

std::string setting() {
  return fmt::format(
      "No training: random tokens and random weights through the library's own modules, {} seeds; geometry "
      "and eps on one token of 64 channels in f64 where a row names no other width, batch norm on tokens of "
      "16 channels, three norms on x [8, 32, 64].",
      seeds_of({.budget = Budget::full}).size());
}

}  // namespace

}  // namespace layer_norm_parts

Study layer_norm_study() {
  return {.name = "layer-norm",
          .title = "What layer norm is",
          .question = "Which published statements about layer norm's geometry, eps and batches are right?",
          .setting = layer_norm_parts::setting(),
          .scope = "geometry and arithmetic, no training",
          .plan = layer_norm_parts::layer_norm_plan,
          .figures = layer_norm_parts::layer_norm_figures,
          .report = layer_norm_parts::report};
}

}  // namespace gradus::lab
