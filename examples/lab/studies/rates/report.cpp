// The page of the study `rates`: each chart with a sentence chosen by its numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

namespace {

using kit::fixed_text;
using kit::number_text;

std::string layers_listed(const std::vector<std::int64_t>& depths) {
  return listed(depths) + (depths == std::vector<std::int64_t>{1} ? " layer" : " layers");
}

/// Depths at which the figure is on one side on all seeds, on the other on all, and mixed.
struct Sides {
  std::vector<std::int64_t> above, below, mixed;
};

Sides sides_of(const View& view, const Figures& figures, const std::string& name, double zero) {
  Sides sides;
  for (const std::int64_t layers : view.grid.depths) {
    const auto found = figures.find(fmt::format("{}.L{}", name, layers));
    if (found == figures.end()) continue;
    std::vector<double> values = found->second;
    for (double& value : values) value -= zero;
    const Difference difference = difference_of(values);
    (difference.up == difference.count     ? sides.above
     : difference.down == difference.count ? sides.below
                                           : sides.mixed)
        .push_back(layers);
  }
  return sides;
}

/// "On all seeds: more sensitive, Post-LN, with 6 and 12 layers; ..." `above` and `below` say what each side
/// means.
std::string side_words(const Sides& sides, const std::string& above, const std::string& below) {
  std::vector<std::string> words;
  if (!sides.above.empty()) words.push_back(fmt::format("with {} {}", layers_listed(sides.above), above));
  if (!sides.below.empty()) words.push_back(fmt::format("with {} {}", layers_listed(sides.below), below));
  std::string text;
  for (const std::string& one : words) text += (text.empty() ? "" : "; ") + one;
  if (!text.empty()) text = "On every seed, " + text + ".";
  if (!sides.mixed.empty())
    text += fmt::format("{}With {} seeds disagree, or there is no difference.", text.empty() ? "" : " ",
                        layers_listed(sides.mixed));
  return text.empty() ? "Not enough runs have finished to say." : text;
}

void add_setting(Page& page, const View& view) {
  const Grid& grid = view.grid;
  const std::vector<std::pair<std::string, std::string>> facts = {
      {"model", "GPT, d_model 32, 4 heads, N(0, 1/fan_in), final norm as each placement has it"},
      {"task", "recall language, 32 characters, vocabulary 29"},
      {"optimizer", "Adam, betas 0.9 and 0.999, no decay, no clipping; linear warm-up, then constant"},
      {"steps and batch", fmt::format("{} steps of 8 lines", grid.steps)},
      {"layers", listed(grid.depths)},
      {"rates", listed(grid.lrs)},
      {"steps of warm-up", listed(grid.warmups)},
      {"seeds", std::to_string(grid.seeds.size())}};
  page.html.heading("What was run");
  page.html.key_values("Settings of all runs", facts);
  page.html.paragraph(fmt::format(
      "Rules written down before the first run: a run **trained** when its validation loss ended below {}, "
      "that "
      "of the best n-gram; it **converged** when the mean of 20 training losses came down to {}, three "
      "quarters "
      "of the way from there to the entropy, {}; one that diverged counts with its loss at the start; one "
      "that "
      "never converged counts with all its {} steps; where no rate trains, the largest is put half a decade "
      "below the lowest tried. Points are means over seeds, bars and bands go from the lowest to the highest "
      "seed.",
      fixed_text(learned_loss(), 3), fixed_text(target_loss(), 3),
      fixed_text(recall_task().entropy().value(), 3), grid.steps));
}

void add_rates(Page& page, const View& view, const Figures& figures) {
  page.html.heading("Loss against rate");
  for (const std::int64_t warmup : view.grid.warmups)
    page.figure(fmt::format("loss-w{}", warmup), loss_by_rate(view, warmup),
                "A wide, low valley is a model that trains at any sensible rate. " +
                    side_words(sides_of(view, figures, warmup == 0 ? "sensitivity" : "sensitivity-warm", 0),
                               "Post-LN's valley is the narrower or steeper one",
                               "Pre-LN's valley is the narrower or steeper one"));
  page.figure(
      "sensitivity", sensitivity_by_depth(view),
      "Wortsman et al. 2023 (arXiv:2309.14322): the mean over rates of min(final loss, loss at the start), "
      "minus the loss at the best rate. 0 is a model that does not care, and also one that trains at "
      "no rate: read it beside the losses.");
}

void add_largest(Page& page, const View& view, const Figures& figures) {
  page.html.heading("The largest rate that trains");
  page.figure("largest", largest_by_depth(view),
              side_words(sides_of(view, figures, "largest", 0), "Pre-LN trains at a higher rate",
                         "Post-LN trains at a higher rate") +
                  " (Without warm-up.) A point below the dotted line: at none of the rates tried.");
  for (const std::int64_t warmup : view.grid.warmups)
    page.figure(fmt::format("trained-w{}", warmup), learned_map(view, warmup),
                "How many seeds trained, by depth, placement and rate; crossed out: not run yet.");
}

void add_warmup(Page& page, const View& view, const Figures& figures) {
  page.html.heading("Warm-up");
  page.figure(
      "warmup", loss_by_warmup(view),
      fmt::format("Each point at its own best rate, chosen on the other seeds. {}",
                  side_words(sides_of(view, figures, "gain", 0),
                             fmt::format("{} steps of warm-up help Post-LN more", view.grid.warmup()),
                             fmt::format("{} steps of warm-up help Pre-LN more", view.grid.warmup()))));
}

std::string best_words(const std::vector<Best>& all) {
  std::set<std::string> words;
  for (const Best& best : all) words.insert(fmt::format("{} ({})", number_text(best.lr), best.warmup));
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "\u2013" : text;
}

kit::Table best_table(const View& view, const Figures& figures) {
  kit::Table table{
      "Best of the search, seed by seed (nats per character): mean (lowest to highest seed)",
      {"Layers", "Tries each", "Pre-LN", "Post-LN", "Post-LN minus Pre-LN", "Seeds where Pre-LN is lower",
       "p", "Pre-LN's best rates (warm-up)", "Post-LN's best rates (warm-up)"},
      {}};
  std::vector<double> p;
  for (const std::int64_t layers : view.grid.depths) {
    std::array<std::vector<Best>, 2> best;
    std::array<std::vector<double>, 2> losses;
    for (std::size_t i = 0; i < 2; ++i)
      for (const std::uint64_t seed : view.grid.seeds)
        if (const auto one = view.best(kPlacements[i], layers, seed)) {
          best[i].push_back(*one);
          losses[i].push_back(one->value);
        }
    const auto found = figures.find(fmt::format("best.L{}", layers));
    if (found == figures.end()) continue;
    const Difference difference = difference_of(found->second);
    p.push_back(difference.p());
    table.rows.push_back({std::to_string(layers), std::to_string(view.grid.tries()),
                          mean_and_range(losses[0]), mean_and_range(losses[1]), mean_and_range(found->second),
                          fmt::format("{} of {}", difference.up, difference.count), "", best_words(best[0]),
                          best_words(best[1])});
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < corrected.size(); ++i) table.rows[i][6] = number_text(corrected[i], 2);
  return table;
}

/// Mean seconds of a step of the runs that went to the end; they depend on the machine.
double step_seconds(const View& view, const std::string& placement, std::int64_t layers) {
  std::vector<double> seconds;
  for (const std::uint64_t seed : view.grid.seeds)
    for (const double lr : view.grid.lrs) {
      const auto record = view.results.records.find(run_name({placement, layers, 0}, lr, seed));
      if (record != view.results.records.end() && view.results.number(record->first, "diverged") == 0)
        seconds.push_back(record->second.seconds / static_cast<double>(view.grid.steps));
    }
  return median(seconds);
}

kit::Table speed_table(const View& view, const Figures& figures) {
  kit::Table table{"Steps to the target loss, each at its own best rate and warm-up",
                   {"Layers", "Pre-LN", "Post-LN", "Post-LN over Pre-LN", "Over Pre-LN at the largest rates",
                    "Pre-LN, ms a step", "Post-LN, ms a step"},
                   {}};
  const auto of = [&](const char* name, std::int64_t layers) {
    const auto found = figures.find(fmt::format("{}.L{}", name, layers));
    return mean_and_range(found == figures.end() ? std::vector<double>{} : found->second);
  };
  for (const std::int64_t layers : view.grid.depths) {
    std::vector<std::string> row = {std::to_string(layers)};
    for (const std::string& placement : kPlacements) {
      std::vector<double> steps;
      for (const std::uint64_t seed : view.grid.seeds)
        if (const auto soonest = view.soonest(placement, layers, seed)) steps.push_back(soonest->value);
      row.push_back(mean_and_range(steps));
    }
    row.push_back(of("steps", layers));
    row.push_back(of("steps-at-largest", layers));
    for (const std::string& placement : kPlacements)
      row.push_back(number_text(1000 * step_seconds(view, placement, layers), 3));
    table.rows.push_back(row);
  }
  return table;
}

/// How many of the best rates lie at an end of those tried.
std::string edge_words(const View& view) {
  std::int64_t lowest = 0, highest = 0, all = 0;
  for (const std::int64_t layers : view.grid.depths)
    for (const std::string& placement : kPlacements)
      for (const std::uint64_t seed : view.grid.seeds)
        if (const auto best = view.best(placement, layers, seed)) {
          ++all;
          if (best->lr == view.grid.lrs.front()) ++lowest;
          if (best->lr == view.grid.lrs.back()) ++highest;
        }
  return fmt::format(
      " Of {} best rates {} are the lowest tried and {} the highest: beyond an end there may be better ones.",
      all, lowest, highest);
}

void add_best(Page& page, const View& view, const Figures& figures) {
  page.html.heading("How fast, and how well in the end");
  page.figure("curves", curves_at_best(view),
              side_words(sides_of(view, figures, "steps", 1), "Pre-LN needs fewer steps to the target",
                         "Post-LN needs fewer steps to the target"));
  page.html.table(speed_table(view, figures));
  page.html.paragraph(fmt::format(
      "{} steps stand for \u201Cnever\u201D; a seed of which neither gets there has no ratio. The last two "
      "columns are medians of wall time on the "
      "machine at hand, whatever else it did: a hint, no measure of the ledger. Both placements do "
      "the same work but for one norm.",
      view.grid.steps));
  page.html.table(best_table(view, figures));
  page.html.paragraph(
      side_words(sides_of(view, figures, "best", 0), "Pre-LN ends lower", "Post-LN ends lower") +
      " Each seed is judged at the rate and the warm-up that are best on the other seeds, of as many tries "
      "for "
      "both; p is the exact two-sided sign test, corrected over depths after Holm." +
      edge_words(view));
}

void add_limits(Page& page, const View& view) {
  page.html.heading("What this does not show");
  page.html.list(
      {fmt::format(
           "**Long training.** {} steps of 8 short lines: low rates and long warm-ups, which deep Post-LN "
           "asks for, have little time. \u201CDoes not train\u201D means: not within these steps. A "
           "warm-up of thousands of steps is here one of the same share of the run.",
           view.grid.steps),
       "**Large models.** Width 32; the best rate falls with width, and borders may move with it.",
       "**Other optimizers and schedules.** Adam at a constant rate: decay, clipping, or another optimizer "
       "(study "
       "`optimizers`) can move the border. Other initial weights: study `initialisations`.",
       "**The width of the valley in general.** Sensitivity depends on the rates tried: compare it within "
       "this "
       "page only. A best rate at the edge of those tried may hide better ones."});
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const View view(results);
  const Figures all = figures(results);
  add_setting(page, view);
  add_rates(page, view, all);
  add_largest(page, view, all);
  add_warmup(page, view, all);
  add_best(page, view, all);
  add_limits(page, view);
}

}  // namespace gradus::lab::rates
