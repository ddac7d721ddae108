#include "lab/studies/compare/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/report/charts.h"
#include "lab/studies/compare/report/summary.h"

namespace gradus::lab::compare {

namespace {

using kit::number_text;

std::string describe_text(const TaskFacts& task) {
  return fmt::format(
      "**The text** is {}: {} different characters, {} at a time. Its last tenth is held out, and final "
      "losses are measured there. No prediction that is the same at every position has a loss below **{}** "
      "nats per character, the 1-gram baseline: a run that ends above that does no better than fixed "
      "frequencies. Of the n-grams with n = 1 to {}, n = {} is the best: it counts the characters after the "
      "last {} in up to a million characters and reaches {}. The lowest possible loss is unknown.",
      task.name, task.vocabulary, task.context, nats(task.context_free_loss), task.ngram.losses.size(),
      task.ngram.n, counted(task.ngram.n - 1, "character"), nats(task.ngram.loss));
}

std::string describe_task(const Analysis& analysis) {
  const TaskFacts& task = analysis.task;
  if (!task.entropy) return describe_text(task);
  const RecallOptions recall;
  return fmt::format(
      "**The text** is made by the lab: lines such as `3p1b3p0t1b`, in which a digit names one of {} boxes "
      "and the letter after it what is inside. The content of a box is drawn from {} letters when the box is "
      "first named, and then stays the same, so a reader who finds the earlier mention knows the letter: a "
      "task for attention. No model has an expected loss below **{}** nats per character, the entropy. "
      "Counting the characters after the last {}, as the {}-gram baseline does (the best of n = 1 to {}), "
      "reaches {}: a run that ends above that does no better than one that looks no further back.",
      recall.boxes, recall.things, nats(*task.entropy), counted(task.ngram.n - 1, "character"), task.ngram.n,
      task.ngram.losses.size(), nats(task.ngram.loss));
}

/// One of the two, in the equations of its paper.
std::string describe_placement(const nn::Placement& placement) {
  if (placement == nn::pre_ln())
    return "**Pre-LN** normalises the input of each branch: h = x + Attn(LN(x)), then h + FFN(LN(h)); one "
           "more norm follows the last block, since nothing else normalises the final sum.";
  if (placement == nn::post_ln())
    return "**Post-LN** normalises each sum: h = LN(x + Attn(x)), then LN(h + FFN(h)).";
  return fmt::format("**{}** joins a branch f to the stream x by `{}`; {} ({}).", placement.name,
                     placement.equation,
                     placement.leave        ? "its streams are joined after the last block"
                     : placement.final_norm ? "a norm follows the last block"
                                            : "no norm follows the last block",
                     placement.paper);
}

/// Parameters that differ between the two placements' models.
std::string difference_in_parameters(const Settings& settings) {
  if (pre_and_post(settings.placements))
    return fmt::format("Pre-LN's last norm, with {} more parameters, starts with gain 1 and bias 0",
                       2 * kWidth);
  std::string text = "norms start with gain 1 and bias 0";
  for (const nn::Placement& placement : settings.placements) {
    if (placement.prepare)
      text += fmt::format("; initial values of {} are measured on the first batch", placement.name);
    if (placement.init) text += fmt::format("; {} draws its own matrices, as its paper says", placement.name);
  }
  return text;
}

void add_introduction(Page& page, const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  page.html.heading("The comparison");
  page.html.list({describe_placement(settings.placements[0]), describe_placement(settings.placements[1])});
  page.html.paragraph(fmt::format(
      "Everything else is equal. With the same seed and depth all blocks start from the same weights and see "
      "the same batches; {}. The models are GPTs of width {} with {} heads and tied embeddings, trained for "
      "{} steps of {} × {} characters by Adam at a constant rate after the warm-up, without weight decay, "
      "dropout, or gradient clipping.",
      difference_in_parameters(settings), kWidth, kHeads, settings.steps, kBatch, analysis.task.context));
  page.html.paragraph(describe_task(analysis));
}

void add_maps(Page& page, const Analysis& analysis) {
  if (analysis.finished == 0) return;
  const std::vector<std::int64_t>& warmups = analysis.settings.warmups;
  for (std::size_t i = 0; i < warmups.size(); ++i)
    page.figure(fmt::format("loss_map_warmup_{}", warmups[i]), loss_map(analysis, warmups[i]),
                i > 0 ? fmt::format("The same {}.", describe_warmup(warmups[i]))
                      : "Means over seeds; darker is better, and the frame marks the best. A run that "
                        "diverged or ended above its initial loss is counted with its initial loss. A cell "
                        "is crossed out "
                        "if all seeds diverged or none has finished.");
}

void add_limits(Page& page, const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  const auto characters = static_cast<double>(settings.steps * kBatch * analysis.task.context);
  const bool post = contains(settings.placements, nn::post_ln());
  std::vector<std::string> limits = {
      fmt::format("**Large models.** These have {} layers of width {} and saw {} characters of one text.",
                  listed(settings.depths), kWidth, number_text(characters)),
      std::string(
          "**Which is better in the end.** Runs as short as these measure the beginning of training.") +
          (post ? " Some published comparisons find Post-LN slightly ahead where it converges." : ""),
      "**Other recipes.** Another optimizer, other initial weights, clipping, dropout or a decaying rate can "
      "each move the border between runs that train and runs that do not.",
      fmt::format("**Small or rare effects.** {} per setting can show only effects that occur with nearly "
                  "every seed.",
                  counted(settings.seeds, "seed"))};
  if (post)
    limits.insert(limits.begin() + 2,
                  "**Why Post-LN fails.** Xiong et al. point to large gradients near the output before the "
                  "first step, Admin and DeepNet to the size of the model's updates, B2T and Keel to "
                  "gradients that vanish towards the first layers. Nothing here separates the three.");
  page.limits(limits);
}

void add_grid(Page& page, const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  page.html.key_values("The grid", {{"text", analysis.task.name},
                                    {"layers", listed(settings.depths)},
                                    {"learning rates", listed(settings.lrs)},
                                    {"warm-up steps", listed(settings.warmups)},
                                    {"steps of a run", std::to_string(settings.steps)},
                                    {"seeds", std::to_string(settings.seeds)}});
  page.html.paragraph(
      "[summary.json](summary.json): results for programs, with a fingerprint of the parameters of every "
      "model.");
}

}  // namespace

std::string question_of(const Settings& settings, std::size_t finished) {
  const Placements& two = settings.placements;
  return fmt::format("{} {} with the same {}data and seeds, trained at {} layers.",
                     pre_and_post(two)
                         ? "Should the norms of a Transformer be on its branches or on its shortcut?"
                         : "Where should the norms of a Transformer be?",
                     counted(static_cast<std::int64_t>(finished), "model"),
                     two[0].init || two[1].init ? "" : "weights, ", listed(settings.depths));
}

void draw_report(Page& page, const Results& results) {
  const Analysis analysis = analyse(results);
  add_maps(page, analysis);
  add_introduction(page, analysis);
  add_initialisation(page, results);
  add_training(page, analysis);
  if (analysis.finished > 0) add_ablations(page, analysis);
  add_limits(page, analysis);
  add_grid(page, analysis);
  const Verdict verdict = verdict_of(analysis, results.initialisation);
  page.files.emplace_back("summary.json", summary_of(results, analysis, verdict).dump(2) + "\n");
}

}  // namespace gradus::lab::compare
