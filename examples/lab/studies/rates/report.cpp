// The page of the study `rates`: the text under each chart follows from its values.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

namespace {

using kit::fixed_text;
using kit::number_text;

/// A figure's numbers, one per seed.
std::vector<double> of_depth(const Figures& figures, const std::string& name, std::int64_t layers) {
  const auto found = figures.find(fmt::format("{}.L{}", name, layers));
  return found == figures.end() ? std::vector<double>{} : found->second;
}

std::string list_layers(const std::vector<std::int64_t>& depths) {
  return listed(depths) + (depths == std::vector<std::int64_t>{1} ? " layer" : " layers");
}

/// The referee's objection to a figure; empty if there is none.
std::string objection_to(const Figures& figures, const std::string& name, std::int64_t layers) {
  const auto found = figures.objections.find(fmt::format("{}.L{}", name, layers));
  return found == figures.objections.end() ? "" : found->second.why;
}

/// The depths at which all seeds are on one side of `zero`: "On every seed, ABOVE with 6 and 12 layers; BELOW
/// with 2 layers. With 24 layers, the seeds disagree or show no difference. Not compared: Post-LN with 48
/// layers trains nowhere."
std::string describe_sides(const StudyResults& results, const Figures& figures, const std::string& name,
                           const std::string& above, const std::string& below, double zero = 0) {
  std::vector<std::int64_t> all_above, all_below, mixed;
  std::vector<std::string> refused;
  for (const std::int64_t layers : grid_of(results.options).depths) {
    if (std::string why = objection_to(figures, name, layers); !why.empty()) {
      // "Post-LN, 48 layers" names an arm; in a sentence it is "Post-LN with 48 layers".
      if (const auto comma = why.find(fmt::format(", {} layer", layers)); comma != std::string::npos)
        why.replace(comma, 1, " with");
      refused.push_back(why);
      continue;
    }
    std::vector<double> values = of_depth(figures, name, layers);
    if (values.empty()) continue;
    for (double& value : values) value -= zero;
    const Difference difference = difference_of(values);
    (difference.up == difference.count     ? all_above
     : difference.down == difference.count ? all_below
                                           : mixed)
        .push_back(layers);
  }
  std::string text;
  for (const auto& [depths, words] : {std::pair(all_above, above), std::pair(all_below, below)})
    if (!depths.empty())
      text +=
          fmt::format("{}{} with {}", text.empty() ? "On every seed, " : "; ", words, list_layers(depths));
  if (!text.empty()) text += ".";
  if (!mixed.empty())
    text += fmt::format("{}With {}, the seeds disagree or show no difference.", text.empty() ? "" : " ",
                        list_layers(mixed));
  if (!refused.empty())
    text += fmt::format("{}Not compared: {}.", text.empty() ? "" : " ", fmt::join(refused, "; "));
  return text.empty() ? "Not enough runs have finished to say." : text;
}

void add_setting(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const std::vector<std::pair<std::string, std::string>> facts = {
      {"model", "GPT, d_model 32, 4 heads, N(0, 1/fan_in), final norm as in each placement"},
      {"task", "recall language, 32 characters, vocabulary 29"},
      {"optimizer", "Adam, betas 0.9 and 0.999, no decay, no clipping; linear warm-up, then constant"},
      {"steps and batch", fmt::format("{} steps of 8 lines", grid.steps)},
      {"layers", listed(grid.depths)},
      {"rates", listed(grid.lrs)},
      {"steps of warm-up", listed(grid.warmups)},
      {"seeds", std::to_string(grid.seeds.size())}};
  page.html.heading("The setting");
  page.html.key_values("Settings of all runs", facts);
  page.html.paragraph(fmt::format(
      "These rules were fixed before the first run: a run **trained** when its validation loss "
      "ended below {}, that of the best n-gram; it **converged** when the mean of 20 training "
      "losses came down to {}, three quarters of the way from there to the entropy, {}; one that "
      "diverged counts with its loss at the start; one that never converged counts with all its "
      "{} steps; where no rate trains, the largest is put half a decade below the lowest tried. "
      "Two rules were added after the runs: an arm none of whose runs trains is not compared, and "
      "a run that never converged has no number of steps, except where settings are chosen by "
      "them. Points are means over seeds; bars and bands range from the lowest to the highest seed.",
      fixed_text(learned_loss(), 3), fixed_text(target_loss(), 3),
      fixed_text(recall_task().entropy().value(), 3), grid.steps));
}

void add_rates(Page& page, const StudyResults& results, const Figures& figures) {
  page.html.heading("Loss against rate");
  for (const std::int64_t warmup : grid_of(results.options).warmups)
    page.figure(fmt::format("loss-w{}", warmup), loss_by_rate(results, warmup),
                "A wide, low valley means a model that trains at any sensible rate. " +
                    describe_sides(results, figures, warmup == 0 ? "sensitivity" : "sensitivity-warm",
                                   "Post-LN's valley is narrower or steeper",
                                   "Pre-LN's valley is narrower or steeper"));
  page.figure("sensitivity", sensitivity_by_depth(results),
              "Wortsman et al. 2023 (arXiv:2309.14322): the mean over rates of min(final loss, loss at the "
              "start), minus the loss at the best rate. 0 means a model that is insensitive to the rate, or "
              "one that trains at no rate: read it together with the losses.");
}

void add_largest(Page& page, const StudyResults& results, const Figures& figures) {
  page.html.heading("The largest rate that trains");
  page.figure(
      "largest", largest_by_depth(results),
      describe_sides(results, figures, "largest", "Pre-LN trains at a higher rate",
                     "Post-LN trains at a higher rate") +
          " These runs have no warm-up. A point below the dotted line marks a model that trained at none of "
          "the rates tried.");
  for (const std::int64_t warmup : grid_of(results.options).warmups)
    page.figure(
        fmt::format("trained-w{}", warmup), learned_map(results, warmup),
        "The number of seeds that trained, by depth, placement and rate; cells not run yet are crossed out.");
}

void add_warmup(Page& page, const StudyResults& results, const Figures& figures) {
  page.html.heading("Warm-up");
  const std::int64_t steps = grid_of(results.options).warmup();
  page.figure("warmup", loss_by_warmup(results),
              "Each point is at its own best rate, chosen on the other seeds. " +
                  describe_sides(results, figures, "gain",
                                 fmt::format("{} steps of warm-up help Post-LN more", steps),
                                 fmt::format("{} steps of warm-up help Pre-LN more", steps)));
}

/// "0.003 (95), 0.01 (0)": the chosen rates and warm-ups.
std::string list_chosen(const Grid& grid, const Found& best) {
  std::set<std::string> words;
  for (std::size_t s = 0; s < best.rates.size(); ++s)
    if (!best.runs[s].empty())
      words.insert(fmt::format("{} ({})", number_text(best.rates[s]), grid.warmups[best.searches[s]]));
  return words.empty() ? "\u2013" : fmt::format("{}", fmt::join(words, ", "));
}

kit::Table best_table(const StudyResults& results, const Figures& figures) {
  const Grid grid = grid_of(results.options);
  kit::Table table{
      "Best of the search, seed by seed (nats per character): mean (lowest to highest seed)",
      {"Layers", "Tries each", "Pre-LN", "Post-LN", "Post-LN minus Pre-LN", "Seeds where Pre-LN is lower",
       "p", "Pre-LN's best rates (warm-up)", "Post-LN's best rates (warm-up)"},
      {}};
  std::vector<double> p;
  std::vector<std::size_t> tested;  // rows
  for (const std::int64_t layers : grid.depths) {
    const Found pre = best_of(results, losses_of(grid, kPlacements[0], layers, grid.warmups)),
                post = best_of(results, losses_of(grid, kPlacements[1], layers, grid.warmups));
    const std::vector<double> differences = of_depth(figures, "best", layers);
    if (differences.empty()) continue;
    const Difference difference = difference_of(differences);
    const std::string why = objection_to(figures, "best", layers);
    if (why.empty()) p.push_back(difference.p()), tested.push_back(table.rows.size());
    table.rows.push_back({std::to_string(layers), std::to_string(grid.tries()), mean_and_range(pre.values),
                          mean_and_range(post.values), why.empty() ? mean_and_range(differences) : why,
                          why.empty() ? fmt::format("{} of {}", difference.up, difference.count) : "", "",
                          list_chosen(grid, pre), list_chosen(grid, post)});
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) table.rows[tested[i]][6] = number_text(corrected[i], 2);
  return table;
}

/// Median milliseconds of a step in the runs that finished; they depend on the machine.
std::string step_time(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  const Grid grid = grid_of(results.options);
  std::vector<double> seconds;
  for (const std::uint64_t seed : grid.seeds)
    for (const double lr : grid.lrs) {
      const auto record = results.records.find(run_name({placement, layers, 0}, lr, seed));
      if (record != results.records.end() && results.number(record->first, "diverged") == 0)
        seconds.push_back(record->second.seconds / static_cast<double>(grid.steps));
    }
  return number_text(1000 * median(seconds), 3);
}

/// "212 (177 to 260)", "7 of 10 seeds: 212 (177 to 260)", "0 of 10 seeds".
std::string describe_steps(const Steps& steps) {
  std::vector<double> finished;
  for (const std::optional<double>& one : steps)
    if (one) finished.push_back(*one);
  const Reached all = reached_of(finished);
  if (all.reached == all.runs) return mean_and_range(all.steps);
  return fmt::format("{} of {} seeds{}", all.reached, all.runs,
                     all.reached == 0 ? "" : ": " + mean_and_range(all.steps));
}

kit::Table speed_table(const StudyResults& results, const Figures& figures) {
  kit::Table table{"Steps to the target loss, each at its own best rate and warm-up",
                   {"Layers", "Pre-LN", "Post-LN", "Post-LN over Pre-LN", "Over Pre-LN at the largest rates",
                    "Pre-LN, ms per step", "Post-LN, ms per step"},
                   {}};
  const auto ratio = [&](const char* name, std::int64_t layers) {
    const std::string why = objection_to(figures, name, layers);
    return why.empty() ? mean_and_range(of_depth(figures, name, layers)) : why;
  };
  for (const std::int64_t layers : grid_of(results.options).depths)
    table.rows.push_back({std::to_string(layers), describe_steps(soonest(results, kPlacements[0], layers)),
                          describe_steps(soonest(results, kPlacements[1], layers)), ratio("steps", layers),
                          ratio("steps-at-largest", layers), step_time(results, kPlacements[0], layers),
                          step_time(results, kPlacements[1], layers)});
  return table;
}

/// How many of the best rates are the lowest or the highest tried.
std::string describe_edges(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  std::int64_t lowest = 0, highest = 0, all = 0;
  for (const std::int64_t layers : grid.depths)
    for (const std::string& placement : kPlacements)
      for (const double rate :
           finite(best_of(results, losses_of(grid, placement, layers, grid.warmups)).rates)) {
        ++all;
        if (rate == grid.lrs.front()) ++lowest;
        if (rate == grid.lrs.back()) ++highest;
      }
  return fmt::format(
      " Of {} best rates, {} are the lowest tried and {} the highest: better ones may lie outside.", all,
      lowest, highest);
}

void add_best(Page& page, const StudyResults& results, const Figures& figures) {
  page.html.heading("Speed and final loss");
  page.figure("curves", curves_of_best(results),
              describe_sides(results, figures, "steps", "Pre-LN needs fewer steps to reach the target",
                             "Post-LN needs fewer steps to reach the target", 1));
  page.html.table(speed_table(results, figures));
  page.html.paragraph(
      fmt::format("\u201C7 of 10 seeds\u201D: the others do not reach the target within the {} steps, and "
                  "then ratios decide nothing. "
                  "The last two columns are medians of wall time on one machine, whatever its other load: a "
                  "hint, not a measure of the ledger. Both placements do the same work except for one norm.",
                  grid_of(results.options).steps));
  page.html.table(best_table(results, figures));
  page.html.paragraph(
      describe_sides(results, figures, "best", "Pre-LN ends lower", "Post-LN ends lower") +
      " Each seed is judged at the rate and the warm-up that are best on the other seeds, from as many tries "
      "for both; p is from the exact two-sided sign test, with Holm's correction over depths." +
      describe_edges(results));
}

void add_limits(Page& page, const Grid& grid) {
  page.limits(
      {fmt::format(
           "**Long training.** {} steps of 8 short lines: low rates and long warm-ups, which deep Post-LN "
           "needs, have little time. \u201CDoes not train\u201D means not within these steps. A warm-up of "
           "thousands of steps corresponds here to one with the same share of the run.",
           grid.steps),
       "**Large models.** Width 32; the best rate falls with width, and borders may move with it.",
       "**Other optimizers and schedules.** Adam at a constant rate: decay, clipping, or another optimizer "
       "(study `optimizers`) can move the border. Other initial weights: study `initialisations`.",
       "**The width of the valley in general.** Sensitivity depends on the rates tried: compare it within "
       "this page only. A best rate at the edge of those tried may hide better ones."});
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Figures all = figures(results);
  add_setting(page, results);
  add_rates(page, results, all);
  add_largest(page, results, all);
  add_warmup(page, results, all);
  add_best(page, results, all);
  add_limits(page, grid_of(results.options));
}

}  // namespace gradus::lab::rates
