#include "lab/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/duration.h"
#include "lab/names.h"
#include "lab/report/charts.h"
#include "lab/report/page.h"
#include "lab/report/summary.h"

namespace gradus::lab {

namespace {

using kit::number_text;

std::string text_words(const TaskFacts& task) {
  return fmt::format(
      "**The text** is {}: {} different characters, {} at a time. Its last tenth is held out, and final "
      "losses are measured there. No prediction that is the same everywhere comes below **{}** nats per "
      "character, the 1-gram baseline: a run that ends above that does no better than fixed frequencies. The "
      "best n-gram of n = 1 to {} is that of n = {}: it counts what follows the last {} in up to a million "
      "characters and reaches {}. The least possible loss is unknown.",
      task.name, task.vocabulary, task.context, nats(task.context_free_loss), task.ngram.losses.size(),
      task.ngram.n, counted(task.ngram.n - 1, "character"), nats(task.ngram.loss));
}

std::string task_words(const Analysis& analysis) {
  const TaskFacts& task = analysis.task;
  if (!task.entropy) return text_words(task);
  const RecallOptions& recall = analysis.options.recall;
  return fmt::format(
      "**The text** is made by the lab: lines such as `3p1b3p0t1b`, in which a digit names one of {} boxes "
      "and the letter after it what is inside. What a box holds is drawn from {} letters when it is first "
      "named and then stays, so a reader who finds the earlier mention knows the letter: a task for "
      "attention. No model has an expected loss below **{}** nats per character, the entropy. Counting what "
      "follows the last {}, the {}-gram baseline (the best of n = 1 to {}), reaches {}: a run that ends "
      "above "
      "that does no better than one that looks no further back.",
      recall.boxes, recall.things, nats(*task.entropy), counted(task.ngram.n - 1, "character"), task.ngram.n,
      task.ngram.losses.size(), nats(task.ngram.loss));
}

/// One of the two, in the equations of its paper.
std::string placement_words(const Placement& placement) {
  if (placement == Placement::pre)
    return "**Pre-LN** norms the input of each branch: h = x + Attn(LN(x)), then h + FFN(LN(h)); one more "
           "norm "
           "after the last block, since the sum it ends with has been normed by nothing.";
  if (placement == Placement::post)
    return "**Post-LN** norms each sum: h = LN(x + Attn(x)), then LN(h + FFN(h)).";
  const nn::Placement library = in_library(placement);
  return fmt::format("**{}** joins a branch f to the stream x by `{}`; {} ({}).", library.name,
                     library.equation,
                     library.leave        ? "its streams are joined after the last block"
                     : library.final_norm ? "a norm stands after the last block"
                                          : "no norm stands after the last block",
                     library.paper);
}

/// What one placement's models have and the other's have not.
std::string difference_in_parameters(const LabOptions& options) {
  if (pre_and_post(options.placements))
    return fmt::format("Pre-LN's last norm, {} parameters more, starts as gain 1 and bias 0",
                       2 * options.model.d_model);
  std::string text = "norms start as gain 1 and bias 0";
  for (const Placement& placement : options.placements) {
    if (placement == Placement{nn::admin().name})
      text += "; Admin's shortcuts are measured on the first batch";
    if (in_library(placement).init)
      text += fmt::format("; {} draws its matrices anew, as its paper says", title_of(placement));
  }
  return text;
}

void add_introduction(Page& page, const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  page.html.heading("What is compared");
  page.html.list({placement_words(options.placements[0]), placement_words(options.placements[1])});
  page.html.paragraph(
      fmt::format("Everything else is equal. With the same seed and depth all blocks start from the same "
                  "weights and see the "
                  "same batches; {}. The "
                  "models are GPTs of "
                  "width {} with {} heads and tied embeddings, trained for {} steps of {} × {} characters by "
                  "Adam at a constant "
                  "rate after the warm-up, without weight decay, dropout, or gradient clipping.",
                  difference_in_parameters(options), options.model.d_model, options.model.heads,
                  options.model.steps, options.model.batch, analysis.task.context));
  page.html.paragraph(task_words(analysis));
}

void add_maps(Page& page, const Analysis& analysis) {
  if (analysis.finished == 0) return;
  const std::vector<std::int64_t>& warmups = analysis.options.warmups;
  for (std::size_t i = 0; i < warmups.size(); ++i)
    page.figure(fmt::format("loss_map_warmup_{}", warmups[i]), loss_map(analysis, warmups[i]),
                i > 0 ? fmt::format("The same {}.", warmup_words(warmups[i]))
                      : "Means over seeds; the fuller the colour the better, the frame marks the best. A run "
                        "that diverged or ended above its start counts with its loss at the start; crossed "
                        "out: all seeds diverged, or none has finished.");
}

void add_limits(Page& page, const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  const auto characters =
      static_cast<double>(options.model.steps * options.model.batch * analysis.task.context);
  const bool post = contains(options.placements, Placement::post);
  page.html.heading("What this does not show");
  std::vector<std::string> limits = {
      fmt::format("**Large models.** These have {} layers of width {} and saw {} characters of one text.",
                  listed(options.depths), options.model.d_model, number_text(characters)),
      std::string("**Which is better in the end.** Runs as short as these measure how training begins.") +
          (post ? " Some published comparisons find Post-LN slightly ahead where it converges." : ""),
      "**Other recipes.** Another optimizer, other initial weights, clipping, dropout or a decaying rate "
      "can each move the border between runs that train and runs that do not.",
      fmt::format("**Small or rare effects.** {} a setting can show what happens with nearly every seed.",
                  counted(options.seeds, "seed"))};
  if (post)
    limits.insert(
        limits.begin() + 2,
        "**Why Post-LN fails.** Xiong et al. point to large gradients near the output before the first step, "
        "Admin "
        "and DeepNet to the size of the model's updates, B2T and Keel to gradients that vanish towards the "
        "first "
        "layers. Nothing here separates the three.");
  page.html.list(limits);
}

std::string seeds_words(const LabOptions& options) {
  if (options.seeds == 1) return std::to_string(options.seed);
  return fmt::format("{} to {}", options.seed, options.seed + static_cast<std::uint64_t>(options.seeds) - 1);
}

std::string duration_words(const Results& results) {
  const auto threads = static_cast<double>(results.config.options.threads);
  double training = 0;
  for (const RunRecord& run : results.runs) training += run.result.seconds / threads;
  const double start = results.initialisation ? results.initialisation->seconds : 0;
  return fmt::format("{} ({} before the first step, {} of training)", kit::human_duration(start + training),
                     kit::human_duration(start), kit::human_duration(training));
}

void add_settings(Page& page, const Results& results) {
  const LabOptions& options = results.config.options;
  page.html.heading("Settings and machine");
  page.html.key_values("Settings", {{"text", results.config.task.name},
                                    {"layers", listed(options.depths)},
                                    {"learning rates", listed(options.lrs)},
                                    {"warm-up steps", listed(options.warmups)},
                                    {"steps of a run", std::to_string(options.model.steps)},
                                    {"seeds", seeds_words(options)},
                                    {"runs", fmt::format("{} of {}, {} at a time", results.runs.size(),
                                                         plan_runs(options).size(), options.threads)},
                                    {"duration", duration_words(results)}});
  page.html.key_values("Versions and machine", results.config.machine);
  page.html.paragraph(
      "Beside this page: `config.json` (all settings), `metrics.jsonl` (a line a step), "
      "`initialisation.json`, `summary.json` (results, with a fingerprint of the parameters of every run) "
      "and `plots/`. `./run report DIR` draws everything again from these files. The same settings give the "
      "same bits on the same kind of machine, for any number of threads.");
}

}  // namespace

Report draw_report(const Results& results, const Analysis& analysis, const Verdict& verdict) {
  const Placements& two = analysis.options.placements;
  const bool same_weights = !in_library(two[0]).init && !in_library(two[1]).init;
  Page page{kit::HtmlReport(
      fmt::format("{} or {}?", title_of(two[0]), title_of(two[1])),
      fmt::format("{} {} with the same {}data and seeds, trained at {} layers.",
                  pre_and_post(two)
                      ? "Should the norms of a Transformer stand on its branches or on its shortcut?"
                      : "Where should the norms of a Transformer stand?",
                  counted(static_cast<std::int64_t>(analysis.finished), "model"),
                  same_weights ? "weights, " : "", listed(analysis.options.depths)))};
  page.html.verdict(verdict.sentence, verdict.findings);
  add_maps(page, analysis);
  add_introduction(page, analysis);
  add_initialisation(page, results);
  add_training(page, analysis);
  if (analysis.finished > 0) add_ablations(page, analysis);
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
