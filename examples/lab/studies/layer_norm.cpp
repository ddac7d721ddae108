// What layer norm is: geometry and formulas, each against the library's own LayerNorm in f64.

#include <cmath>

#include "gradus/gradus.h"
#include "lab/start/initialisation.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace {

constexpr std::int64_t kWidth = 64;

std::string run_name(std::uint64_t seed) { return "token-s" + std::to_string(seed); }

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, options.budget == Budget::quick ? 5 : 30);
}

double length(const Tensor& x) { return std::sqrt((x * x).sum().item()); }

Measured measure(std::uint64_t seed) {
  const DefaultDType dtype(f64);
  Generator generator(seed);
  const Tensor x = Tensor(random_normal({kWidth}, 1.0, 2.0, f64, generator));
  const Tensor none = ones({kWidth}), zero = zeros({kWidth});
  const Tensor y = layer_norm(x, none, zero, 0.0);
  const Tensor mean = x.mean() * ones({kWidth}), left = x - mean;

  const Tensor flat = 1.0 + 1e-3 * y;  // a token of standard deviation 1e-3
  const Tensor inside = layer_norm(flat, none, zero, 1e-5);
  const Tensor centred = flat - flat.mean();
  const Tensor outside =
      centred /
      ((centred * centred).mean().item() > 0 ? std::sqrt((centred * centred).mean().item()) + 1e-5 : 1e-5);
  const JacobianCheck jacobian = check_layer_norm_jacobian(6, seed);
  return {.numbers = {{"radius", length(y)},
                      {"mean-radial-cosine", (mean * left).sum().item() / (length(mean) * length(left))},
                      {"jacobian-right", jacobian.max_error},
                      {"jacobian-printed", jacobian.wrong_mean_only},
                      {"eps-outside", length(outside - inside) / length(inside)}},
          .series = {}};
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : seeds_of(options))
    runs.push_back({.name = run_name(seed), .seconds = 0.01, .measure = [seed] { return measure(seed); }});
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  for (const std::uint64_t seed : seeds_of(results.options))
    for (const char* name : {"radius", "mean-radial-cosine", "jacobian-printed", "eps-outside"})
      if (results.has(run_name(seed))) all[name].push_back(results.number(run_name(seed), name));
  return all;
}

void report(Page& page, const StudyResults& results) {
  page.html.heading("Formulas against the library");
  page.html.paragraph("Random tokens of 64 channels in f64, and their layer norm, gain 1 and bias 0.");
  (void)results;
}

}  // namespace

Study layer_norm_study() {
  return {.name = "layer-norm",
          .title = "What layer norm is",
          .question = "Which printed formulas of layer norm are right?",
          .plan = plan,
          .figures = figures,
          .report = report};
}

}  // namespace gradus::lab
