#include "lab/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "gradus/core/format.h"
#include "kit/duration.h"
#include "kit/files.h"
#include "kit/html_report.h"
#include "lab/charts.h"
#include "lab/names.h"
#include "lab/summary.h"

namespace gradus::lab {

namespace {

using kit::fixed_text;
using kit::number_text;
using nn::Placement;

/// The page under way; figures also go to the folder of plots.
struct Page {
  kit::HtmlReport html;
  std::vector<std::pair<std::string, std::string>> plots = {};

  template <class Chart>
  void figure(const std::string& name, const Chart& chart, const std::string& caption) {
    html.figure(chart, caption);
    plots.emplace_back(name + ".svg", kit::svg_file(kit::draw(chart)));
  }
};

const InitialState& state_at(const Initialisation& initialisation, Placement placement, std::int64_t layers) {
  for (const InitialState& state : initialisation.states)
    if (state.placement == placement && state.layers == layers) return state;
  fail_with("lab: depth {} was not measured at initialisation", layers);
}

/// What is left of the last layer's gradient at the first, in words that fit the number.
std::string slope_caption(const Initialisation& initialisation) {
  constexpr std::int64_t kLayers = 32;
  const InitialState& post = state_at(initialisation, Placement::post, kLayers);
  const double weights = post.gradient.front() / post.gradient.back();
  const double activations = post.activation_gradient.front() / post.activation_gradient.back();
  const double predicted = std::pow(2.0 / 3, (kLayers - 1) / 2.0);
  std::string text = fmt::format(
      "In this setting we measured, for Post-LN with {} layers, a gradient of W₂ in the first block of {} "
      "times that "
      "in the last, and of the activations {} times; (2/3)^((L−l)/2), the slope of appendix F, would leave "
      "{}.",
      kLayers, number_text(weights, 2), number_text(activations, 2), number_text(predicted, 2));
  if (std::min(weights, activations) > 10 * predicted)
    text +=
        " Each norm does shrink a gradient by √(2/3), but the branch beside the shortcut adds its own share "
        "and makes "
        "up for it; vanishing gradients are not what sets Post-LN apart at the start.";
  return text;
}

void add_initialisation(Page& page, const Results& results) {
  page.html.heading("At initialisation");
  if (!results.initialisation) {
    page.html.paragraph("This part was not measured: the lab was stopped before.");
    return;
  }
  const Initialisation& start = *results.initialisation;
  const InitialisationOptions& options = results.config.options.initialisation;
  const Theorem1 theorem = check_theorem1(start.states);
  page.html.paragraph(fmt::format(
      "The setting of Xiong et al. 2020 ([2002.04745](https://arxiv.org/abs/2002.04745)), section 3: one "
      "head, every "
      "matrix {0} × {0} with entries from N(0, 1/{0}), uniform attention (W_Q = W_K = 0), Gaussian input, "
      "gain 1, "
      "bias 0; {1} positions, {2} classes, {3} seeds. The loss is the cross-entropy **at one position**: "
      "averaged "
      "over positions, gradients show a trend with depth that the theorem does not speak of, because uniform "
      "attention makes positions alike.",
      options.d_model, options.positions, options.classes, options.seeds));
  page.html.paragraph(theorem_sentence(theorem));
  page.figure(
      "initial_top_gradient", top_gradient_chart(start),
      "Theorem 1. Mean over seeds; bars: one standard deviation. Post-LN's gradient stays level, Pre-LN's "
      "should fall along the dotted line, which starts at its first point.");
  page.figure(
      "initial_norms", norm_chart(start),
      fmt::format("Lemma 2. Pre-LN's shortcut grows in every block and should stay in the shaded band, "
                  "(1 + l/2) to (1 + 3l/2); Post-LN's sum before the last norm of a block is 3/2 times d. "
                  "The size of the vectors is d = {}.",
                  options.d_model));
  page.figure("initial_gradients", gradient_panels(start),
              "Means over seeds, one line a depth; the last point of a line is the block next to the loss. " +
                  slope_caption(start));
  const JacobianCheck& jacobian = start.jacobian;
  page.html.subheading("The Jacobian of layer norm");
  page.html.paragraph(
      "At a random x of size 6 in double precision, against central differences. Both wrong forms stand in "
      "teaching "
      "material; gradients made with them would not train as expected, and no error would say so.");
  page.html.table(
      {"Largest error of any entry",
       {"formula", "off by"},
       {{"(I − 11ᵀ/d − x̂x̂ᵀ/d) / σ, and this library's backward pass", number_text(jacobian.max_error, 2)},
        {"(δᵢⱼ − μⱼ) / σ", number_text(jacobian.wrong_mean_only, 2)},
        {"(I − 11ᵀ/d) / σ: σ taken for a constant", number_text(jacobian.wrong_constant_sigma, 2)}}});
}

std::string task_paragraph(const TaskFacts& task, const RecallOptions& recall) {
  const std::string baseline =
      fmt::format("The best {}-gram model, which counts the last {} instead, reaches {}", task.ngram.n,
                  counted(task.ngram.n - 1, "character"), fixed_text(task.ngram.loss, 3));
  if (!task.entropy)
    return fmt::format(
        "The text is {}: {} different characters, seen {} at a time; its last tenth is held out, and final "
        "losses are "
        "measured there. How predictable it is nobody knows, so losses are shown as they are. {}.",
        task.name, task.vocabulary, task.context, baseline);
  return fmt::format(
      "The text is made by the lab: lines such as `3p1b3p0t1b` in which a digit names one of {} boxes and a "
      "letter "
      "what is in it. The first time a box is named its content is drawn from {} letters; after that it "
      "stays, so "
      "whoever looks back to the last mention can tell. No model can do better than **{}** nats per "
      "character, the "
      "entropy. {}: a run that ends below it has learned to look back further than that.",
      recall.boxes, recall.things, fixed_text(*task.entropy, 3), baseline);
}

/// Settings and what came of them; the numbers no chart shows.
kit::Table settings_table(const Analysis& analysis, const std::vector<Cell>& cells,
                          const std::string& caption) {
  kit::Table table{caption,
                   {"placement", "layers", "rate", "warm-up", "change", "runs", "diverged",
                    fmt::format("below {}-gram", analysis.task.ngram.n), "loss: mean", "std", "min", "max",
                    "steps to target"},
                   {}};
  for (const Cell& cell : cells) {
    const RunOptions& run = cell.setting;
    std::vector<std::string> steps;
    for (const double s : cell.steps) steps.push_back(std::isnan(s) ? "–" : number_text(s));
    std::string all_steps;
    for (const std::string& s : steps) all_steps += (all_steps.empty() ? "" : ", ") + s;
    const bool ablation = run.final_norm || run.residual_scaling;
    table.rows.push_back(
        {title_of(run.placement), std::to_string(run.layers), number_text(run.lr), std::to_string(run.warmup),
         ablation ? ablation_words(run) : "", std::to_string(cell.runs.size()), std::to_string(cell.diverged),
         std::to_string(cell.learned), fixed_text(cell.loss.mean, 4), fixed_text(cell.loss.std, 4),
         fixed_text(cell.loss.low, 4), fixed_text(cell.loss.high, 4), all_steps});
  }
  return table;
}

bool any_steps(const Analysis& analysis) {
  for (const Cell& cell : analysis.grid)
    for (const double steps : cell.steps)
      if (!std::isnan(steps)) return true;
  return false;
}

void add_training(Page& page, const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  const std::string lines =
      analysis.task.entropy
          ? fmt::format("Dotted lines: the {}-gram's loss above, the entropy below.", analysis.task.ngram.n)
          : fmt::format("Dotted line: the {}-gram's loss.", analysis.task.ngram.n);
  page.html.heading("Training");
  page.html.paragraph(task_paragraph(analysis.task, options.recall));
  page.html.paragraph(
      fmt::format("Every model is a GPT of width {} with {} heads and tied embeddings, trained for {} steps "
                  "of {} × {} characters "
                  "by Adam with a constant rate after its warm-up, without weight decay, dropout or gradient "
                  "clipping. With equal "
                  "seed and depth, Pre-LN and Post-LN start from the same weights and see the same batches.",
                  options.model.d_model, options.model.heads, options.model.steps, options.model.batch,
                  analysis.task.context));
  if (analysis.finished == 0) {
    page.html.paragraph("No run has finished yet.");
    return;
  }
  page.figure(
      "loss_by_rate", loss_by_rate(analysis),
      "A point is the mean over seeds, its bar goes from the best to the worst seed. A wide, low valley is "
      "what one wants: a model that trains at any sensible rate. A run that diverged, or ended above its "
      "start, counts with its loss at the start. " +
          lines);
  for (const std::int64_t warmup : options.warmups)
    page.figure(
        fmt::format("loss_map_warmup_{}", warmup), loss_map(analysis, warmup),
        "Means over seeds; darker is better, the frame marks the best. Crossed out: every seed diverged, or "
        "none has finished.");
  page.html.subheading("On the way");
  for (const std::int64_t warmup : options.warmups)
    page.figure(fmt::format("loss_curves_warmup_{}", warmup), loss_curves(analysis, warmup),
                "Rows: depth; columns: rate. Lines are means over seeds and a slice of steps, bands go from "
                "the lowest "
                "to the highest seed. " +
                    lines);
  page.figure("gradient_norms", gradient_norm_panels(analysis, ablation_setting(options).lr),
              "Norm of all gradients together, mean and range over seeds. Nothing is clipped.");
  if (any_steps(analysis))
    page.figure(
        "steps_to_loss", steps_panels(analysis),
        fmt::format("Steps until the mean of the last {} training losses is at most {}, {}. Mean and range "
                    "over seeds; a point is left out where a seed never got there.",
                    kSmoothing, fixed_text(analysis.target, 3),
                    analysis.task.entropy ? "three quarters of the way from the n-gram's loss to the entropy"
                                          : "the n-gram's loss"));
  if (options.lrs.size() > 1)
    page.figure(
        "sensitivity", sensitivity_panels(analysis),
        "Learning-rate sensitivity of Wortsman et al. 2023 "
        "([2309.14322](https://arxiv.org/abs/2309.14322)): the mean over all rates of the final loss (at "
        "most "
        "the loss at the start), minus that of the best rate. Low is good: 0 would be a model that does not "
        "care which rate it gets. Mean and range over seeds.");
  page.html.folded_table(settings_table(analysis, analysis.grid, "All settings"));
}

void add_ablations(Page& page, const Analysis& analysis) {
  const RunOptions run = ablation_setting(analysis.options);
  page.html.heading("Ablations");
  page.html.paragraph(
      fmt::format("Two details, changed one at a time at {} layers, rate {}, {}. The final norm: a Pre-LN "
                  "stack has one after its "
                  "last block, here it is taken away; a Post-LN stack has none, here it gets one. Residual "
                  "init scaling: the "
                  "matrices that write to the residual stream start 1/√(2L) times as large, as in GPT-2.",
                  run.layers, number_text(run.lr), warmup_title(run.warmup)));
  page.figure("ablations", ablation_curves(analysis), "Mean and range over seeds.");
  std::vector<Cell> cells;
  for (const Placement placement : {Placement::pre, Placement::post}) {
    cells.push_back(analysis.cell(placement, run.layers, run.lr, run.warmup));
    for (const Cell& cell : analysis.ablations)
      if (cell.setting.placement == placement) cells.push_back(cell);
  }
  page.html.table(settings_table(analysis, cells, "Final losses"));
}

void add_limits(Page& page, const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  page.html.heading("What this does not show");
  page.html.list(
      {fmt::format("Anything about large models: these have {} layers of width {} and saw {} characters.",
                   listed(options.depths), options.model.d_model,
                   number_text(static_cast<double>(options.model.steps * options.model.batch *
                                                   analysis.task.context))),
       "Which placement is better when both train to the end. Published comparisons often find Post-LN "
       "slightly ahead "
       "where it converges; runs as short as these measure how training begins.",
       "Why Post-LN fails. Xiong et al. point to gradients at the start, later work (Admin, DeepNet) to the "
       "size of the "
       "model's updates; nothing here separates the two.",
       "Other optimizers, other initial weights, gradient clipping, dropout, decaying rates: each can move "
       "the border "
       "between runs that train and runs that do not.",
       fmt::format("More than {} can: {} a setting are enough to see large effects, not small ones.",
                   counted(options.seeds, "seed"), counted(options.seeds, "run"))});
}

void add_settings(Page& page, const Results& results) {
  const Config& config = results.config;
  const LabOptions& options = config.options;
  page.html.heading("Settings and machine");
  double run_seconds = 0;
  for (const RunRecord& run : results.runs) run_seconds += run.result.seconds;
  const double start_seconds = results.initialisation ? results.initialisation->seconds : 0;
  std::vector<std::string> rates;
  page.html.key_values(
      "Settings",
      {{"text", config.task.name},
       {"layers", listed(options.depths)},
       {"learning rates", listed(options.lrs)},
       {"warm-up steps", listed(options.warmups)},
       {"seeds", options.seeds == 1
                     ? std::to_string(options.seed)
                     : fmt::format("{} to {}", options.seed,
                                   options.seed + static_cast<std::uint64_t>(options.seeds) - 1)},
       {"runs", fmt::format("{} of {}", results.runs.size(), plan_runs(options).size())},
       {"steps of a run", std::to_string(options.model.steps)},
       {"duration",
        fmt::format("{}: {} for the start, {} of training, {} at a time",
                    kit::human_duration(start_seconds + run_seconds / static_cast<double>(options.threads)),
                    kit::human_duration(start_seconds), kit::human_duration(run_seconds),
                    counted(options.threads, "run"))}});
  page.html.key_values("Versions and machine", config.machine);
  page.html.paragraph(
      "Beside this page: `config.json` (all settings), `metrics.jsonl` (one line a step), "
      "`initialisation.json`, "
      "`summary.json` (results and fingerprints of the trained parameters), `plots/` (the charts). "
      "`./run report` with the name of this folder draws all of it again from these files. On the same "
      "machine the "
      "same settings give the same bits, whatever the number of threads.");
}

}  // namespace

Report draw_report(const Results& results, const Analysis& analysis, const Verdict& verdict) {
  const LabOptions& options = analysis.options;
  Page page{kit::HtmlReport(
      "Pre-LN or Post-LN?",
      fmt::format(
          "Where should the norms of a Transformer stand: on the branches (Pre-LN) or after the additions "
          "(Post-LN)? {} trained side by side, with the same weights, data and seeds, at {} layers.",
          counted(static_cast<std::int64_t>(analysis.finished), "model"), listed(options.depths)))};
  page.html.verdict(verdict.sentence, verdict.findings);
  add_training(page, analysis);
  if (analysis.finished > 0) add_ablations(page, analysis);
  add_initialisation(page, results);
  add_limits(page, analysis);
  add_settings(page, results);
  return {page.html.html(), std::move(page.plots)};
}

Verdict write_report(const std::filesystem::path& folder) {
  const Results results = read_results(folder);
  const Analysis analysis = analyse(results);
  Verdict verdict = verdict_of(analysis, results.initialisation);
  const Report report = draw_report(results, analysis, verdict);
  kit::make_folder(folder / "plots");
  for (const auto& [name, content] : report.plots) kit::replace_file(folder / "plots" / name, content);
  kit::replace_file(folder / "report.html", report.html);
  kit::write_json(folder / "summary.json", summary_of(results, analysis, verdict));
  return verdict;
}

}  // namespace gradus::lab
