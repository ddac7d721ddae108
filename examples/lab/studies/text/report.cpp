// The page of the study `text`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/text/comparison.h"
#include "lab/studies/text/text.h"

namespace gradus::lab::real_text {

namespace {

using kit::number_text;

void add_setting(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("A first measurement");
  page.html.paragraph(
      "It decides no claim: its three rates are a factor of 4 apart, and the best is often the lowest or the "
      "highest of them. Its seeds choose settings for each other.");
  page.html.key_values(
      "Its settings",
      {{"model", "GPT, 64 channels, 4 heads, context 32; N(0, 0.02\u00B2), scaled into the stream, as GPT-2"},
       {"text", "characters, the last tenth for validation: 256 windows"},
       {"optimizer", "AdamW, betas 0.9 and 0.99, decay 0.1 of matrices, gradient clipped to 1"},
       {"rate", "up over the warm-up, then half a cosine down to a tenth"},
       {"steps and batch", fmt::format("{} steps of 16 windows", grid.steps)},
       {"placements", listed(grid.placements)},
       {"layers", listed(grid.depths)},
       {"rates", listed(grid.rates)},
       {"steps of warm-up", listed(grid.warmups)},
       {"seeds", std::to_string(grid.seeds.size())}});
  std::string rules =
      "It is nanoGPT's setting for a CPU with half the width and context and fewer steps. Every placement "
      "has the same rates and warm-ups, so the same search. These rules were fixed before the first run: a "
      "run that diverged (a loss not finite or above 4 log(vocabulary)), or ended above its start, counts "
      "with the loss it started from; for each seed the rate is the one that is best on average over the "
      "other seeds, so no seed chooses the rate it is judged at; a run **failed** when it diverged or ended "
      "less than 0.1 nats below the loss without looking back";
  if (const auto free = of_any_run(results, "context-free"), bigram = of_any_run(results, "bigram");
      free && bigram)
    rules += fmt::format(" ({:.3f} here; a bigram has {:.3f})", *free, *bigram);
  page.html.paragraph(rules + ".");
}

kit::Panels loss_by_rate(const StudyResults& results, const Grid& grid, std::int64_t warmup) {
  return label_once(panels(
      "Validation loss against the rate, " + describe_warmup(warmup), grid.depths, [&](std::int64_t layers) {
        kit::LineChart chart{.title = counted(layers, "layer"),
                             .x_label = "learning rate",
                             .y_label = "loss (nats per character)",
                             .x_axis = kit::AxisKind::log,
                             .x_ticks = grid.rates};
        chart.series = lines(grid.placements, grid.rates, [&](const std::string& placement, double rate) {
          return at_rate(results, grid.searches(placement, layers, {warmup}).front(), rate);
        });
        if (const auto bigram = of_any_run(results, "bigram"))
          chart.references = {{.at = *bigram, .label = "bigram"}};
        return chart;
      }));
}

/// Training losses at each seed's chosen rate.
kit::Panels curves(const StudyResults& results, const Grid& grid) {
  return panels("Training loss, each at its best rate", grid.depths, [&](std::int64_t layers) {
    kit::LineChart chart{
        .title = counted(layers, "layer"), .x_label = "step", .y_label = "loss (nats per character)"};
    int style = 0;
    for (const std::string& placement : grid.placements)
      for (const std::int64_t warmup : grid.warmups) {
        const Found found = best_of(results, grid.searches(placement, layers, {warmup}));
        chart.series.push_back(band_of_curves(placement + " " + describe_warmup(warmup),
                                              curves_at_best(results, found, "losses"), style++,
                                              ends_of_slices(grid.steps, kParts)));
      }
    return chart;
  });
}

/// "With 4 layers Pre-LN ends lower on each of 5 seeds, by 0.03 (0.02 to 0.04)." `up` describes a positive
/// difference.
std::string describe_side(const std::string& where, const std::vector<double>& differences,
                          const std::string& up, const std::string& down) {
  const Difference d = difference_of(differences);
  if (d.count == 0) return fmt::format("{}: too few runs have finished.", where);
  std::vector<double> sizes;
  for (const double value : differences) sizes.push_back(d.side() < 0 ? -value : value);
  const std::string by = mean_and_range(sizes, 3);
  if (d.agreeing() == d.count)
    return fmt::format("{}: {}, on {}, by {} nats.", where, d.side() > 0 ? up : down,
                       d.count == 1 ? "the one seed" : fmt::format("each of {} seeds", d.count), by);
  return fmt::format("{}: seeds disagree, {} to {}; the mean difference is {:.3f} nats.", where, d.up, d.down,
                     d.mean);
}

std::string list_chosen(const Found& found) {
  std::vector<double> rates = finite(found.rates);
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates.empty() ? "\u2013" : listed(rates);
}

/// How many runs of all rates diverged, or ended less than kLearned below the loss without looking back.
std::string count_failures(const StudyResults& results, const Search& search) {
  const std::vector<double> diverged = of_all_rates(results, search, "diverged"),
                            free = of_all_rates(results, search, "context-free");
  std::vector<double> failed = of_all_rates(results, search, "loss");
  for (std::size_t i = 0; i < failed.size(); ++i) failed[i] = diverged[i] + (failed[i] > free[i] - kLearned);
  return share_of(failed);
}

void add_table(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{
      .caption = "Validation loss at the best rate: mean (lowest to highest seed)",
      .header = {"Layers", "Warm-up", "Placement", "Loss", "Rates chosen", "Failed, at all rates"}};
  for (const std::int64_t layers : grid.depths)
    for (const std::int64_t warmup : grid.warmups)
      for (const std::string& placement : grid.placements) {
        const Search search = grid.searches(placement, layers, {warmup}).front();
        const Found found = best_of(results, search);
        table.rows.push_back({std::to_string(layers), std::to_string(warmup), placement,
                              mean_and_range(found.values, 4), list_chosen(found),
                              count_failures(results, search)});
      }
  page.html.table(table);
  page.html.paragraph(
      "Where a chosen rate is the lowest or the highest tried, a better one may lie outside.");
}

/// "after 0.80 (0.75 to 0.85) of its steps with 4 layers; ..."
std::string describe_time(const Grid& grid, const Figures& all) {
  std::string words;
  for (const std::int64_t layers : grid.depths)
    if (const auto& shares = all.at(fmt::format("time.L{}", layers)); !shares.empty())
      words += fmt::format("{}after {} of its steps with {}", words.empty() ? "" : "; ",
                           mean_and_range(shares, 3), counted(layers, "layer"));
  return words.empty()
             ? "Too few runs have finished to say how soon Pre-LN reaches Post-LN's final loss."
             : "In the first measurement, which decides no claim, Pre-LN without warm-up reaches the "
               "final loss of Post-LN with warm-up " +
                   words + " (1: not before the end).";
}

}  // namespace

std::string for_depths(const std::vector<std::int64_t>& depths, const Figures& all, const std::string& id,
                       const std::string& up, const std::string& down) {
  std::string words;
  for (const std::int64_t layers : depths) {
    const auto found = all.find(fmt::format("{}.L{}", id, layers));
    words += (words.empty() ? "" : " ") +
             describe_side(counted(layers, "layer"),
                           found == all.end() ? std::vector<double>{} : found->second, up, down);
  }
  return words;
}

void report(Page& page, const StudyResults& results) {
  const Figures judged = figures(results);
  report_placements(page, results, judged);
  report_scaling(page, results, judged);
  const Grid grid = grid_of(results.options);
  const Figures all = first_figures(results);
  add_setting(page, results, grid);
  if (grid.rates.size() > 1) page.html.heading("Loss against rate");
  for (const std::int64_t warmup : grid.rates.size() > 1 ? grid.warmups : std::vector<std::int64_t>{})
    page.figure(
        fmt::format("loss-w{}", warmup), loss_by_rate(results, grid, warmup),
        fmt::format("From the first measurement, which decides no claim. A low curve with a wide valley is "
                    "best. Points are means over {}; bars range from the lowest to the highest.",
                    count_seeds(grid.seeds.size())));
  page.html.heading("Final losses");
  page.html.paragraph("Each at its best rate and warm-up: " +
                      for_depths(grid.depths, all, "end", "Pre-LN ends lower", "Post-LN ends lower"));
  page.html.paragraph("Pre-LN without warm-up against Post-LN with it: " +
                      for_depths(grid.depths, all, "without", "Post-LN ends lower", "Pre-LN ends lower"));
  add_table(page, results, grid);
  page.html.heading("Speed");
  page.figure("curves", curves(results, grid),
              describe_time(grid, all) + " " + describe_bands(grid.seeds.size()));
  page.limits(
      {fmt::format(
           "Long trainings: these see {} characters at most, in windows of half the length of nanoGPT's "
           "own setting for a CPU, which ends at 1.88 nats on tiny Shakespeare after 1.5 million "
           "characters. The placement that is ahead early need not be ahead later.",
           placements_compared(results.options).steps * 16 * 32),
       "Saturation: the entropy of a text is not known, least of all within windows of 32 characters, so no "
       "band is compared with the distance to it.",
       fmt::format("The best of all settings: on the first searching seed alone all settings but {} are "
                   "dropped, so one that is unlucky there is lost. The search compares means that include "
                   "failed runs.",
                   placements_compared(results.options).kept.front()),
       "Wide models: 64 channels. The rate at which training begins to fail depends on width.",
       "Other optimizers: AdamW with a clipped gradient, which reduces the harm of the first steps to "
       "Post-LN.",
       "Time in seconds: steps cost nearly the same in all placements here, so steps represent time."});
}

}  // namespace gradus::lab::real_text
