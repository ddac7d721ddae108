// The page of the study `text`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/left_out.h"
#include "lab/studies/text/text.h"

namespace gradus::lab::real_text {

namespace {

using kit::number_text;

constexpr double kLearned = 0.1;  // nats below a model that knows only how frequent characters are

/// A number that all runs have alike, such as the loss of the bigram; nothing before the first has finished.
std::optional<double> of_any_run(const StudyResults& results, const std::string& name) {
  if (results.records.empty()) return std::nullopt;
  return results.number(results.records.begin()->first, name);
}

bool failed(const StudyResults& results, const std::string& run) {
  return results.number(run, "diverged") > 0 ||
         results.number(run, "loss") > results.number(run, "context-free") - kLearned;
}

void add_setting(Page& page, const StudyResults& results, const Grid& grid) {
  page.html.heading("What was run");
  page.html.key_values(
      "Settings of all runs",
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
      "has "
      "the same rates and warm-ups, so the same search. Rules written down before the first run: a run that "
      "diverged (a loss not finite or above 4 log(vocabulary)), or ended above its start, counts with the "
      "loss "
      "it started from; for each seed the rate is the one that is best in the mean of the other seeds, so "
      "that no seed chooses the rate it is judged at; a run **failed** when it diverged or ended less than "
      "0.1 "
      "nats below what is known without looking back";
  if (const auto free = of_any_run(results, "context-free"), bigram = of_any_run(results, "bigram");
      free && bigram)
    rules += fmt::format(" ({:.3f} here; a bigram has {:.3f})", *free, *bigram);
  page.html.paragraph(rules + ".");
}

kit::Panels loss_by_rate(const StudyResults& results, const Grid& grid, std::int64_t warmup) {
  kit::Panels panels{.title = "Validation loss against the rate, " + warmup_words(warmup)};
  for (const std::int64_t layers : grid.depths) {
    kit::LineChart chart{.title = counted(layers, "layer"),
                         .x_label = "learning rate",
                         .y_label = "loss (nats per character)",
                         .x_axis = kit::AxisKind::log,
                         .x_ticks = grid.rates};
    for (std::size_t p = 0; p < grid.placements.size(); ++p) {
      kit::Series line =
          band(grid.placements[p], grid.rates, rows_of(results, grid.placements[p], layers, {warmup}).losses,
               static_cast<int>(p));
      line.spread = kit::Spread::error_bars;
      chart.series.push_back(std::move(line));
    }
    if (const auto bigram = of_any_run(results, "bigram"))
      chart.references.push_back({.at = *bigram, .label = panels.panels.empty() ? "bigram" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

/// Training losses at each seed's chosen rate.
kit::Series curve_of(const StudyResults& results, const Grid& grid, const Rows& rows, const std::string& name,
                     int style) {
  const auto chosen = best_of_others(rows.losses);
  std::vector<std::vector<double>> curves;
  for (std::size_t seed = 0; seed < chosen.size(); ++seed)
    if (chosen[seed])
      curves.push_back(results.series(run_name(rows.settings[*chosen[seed]], grid.seeds[seed]), "losses"));
  std::vector<double> steps;
  for (int part = 1; part <= 20; ++part) steps.push_back(static_cast<double>(part * grid.steps) / 20);
  return band_of_curves(name, curves, style, steps);
}

kit::Panels curves(const StudyResults& results, const Grid& grid) {
  kit::Panels panels{.title = "Training loss, each at its best rate"};
  for (const std::int64_t layers : grid.depths) {
    kit::LineChart chart{
        .title = counted(layers, "layer"), .x_label = "step", .y_label = "loss (nats per character)"};
    for (std::size_t p = 0; p < 2; ++p)
      for (const std::int64_t warmup : grid.warmups)
        chart.series.push_back(curve_of(results, grid, rows_of(results, grid.placements[p], layers, {warmup}),
                                        grid.placements[p] + " " + warmup_words(warmup),
                                        static_cast<int>(2 * p + (warmup > 0))));
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

/// "With 4 layers Pre-LN ends lower on each of 5 seeds, by 0.03 (0.02 to 0.04)." `up`: what a positive
/// difference says.
std::string side_words(const std::string& where, const std::vector<double>& differences,
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

std::string for_depths(const Grid& grid, const Figures& all, const std::string& id, const std::string& up,
                       const std::string& down) {
  std::string words;
  for (const std::int64_t layers : grid.depths)
    words += (words.empty() ? "" : " ") +
             side_words(counted(layers, "layer"), all.at(fmt::format("{}.L{}", id, layers)), up, down);
  return words;
}

std::string chosen_words(const Rows& rows) {
  std::vector<double> rates;
  for (const auto& one : best_of_others(rows.losses))
    if (one) rates.push_back(rows.settings[*one].rate);
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates.empty() ? "\u2013" : listed(rates);
}

std::string failures(const StudyResults& results, const Grid& grid, const Rows& rows) {
  int done = 0, count = 0;
  for (const Setting& setting : rows.settings)
    for (const std::uint64_t seed : grid.seeds)
      if (const std::string run = run_name(setting, seed); results.has(run)) {
        ++done;
        count += failed(results, run);
      }
  return fmt::format("{} of {}", count, done);
}

void add_table(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{
      .caption = "Validation loss at the best rate: mean (lowest to highest seed)",
      .header = {"Layers", "Warm-up", "Placement", "Loss", "Rates chosen", "Failed, at all rates"}};
  for (const std::int64_t layers : grid.depths)
    for (const std::int64_t warmup : grid.warmups)
      for (const std::string& placement : grid.placements) {
        const Rows rows = rows_of(results, placement, layers, {warmup});
        table.rows.push_back({std::to_string(layers), std::to_string(warmup), placement,
                              mean_and_range(best_losses(rows), 4), chosen_words(rows),
                              failures(results, grid, rows)});
      }
  page.html.table(table);
  page.html.paragraph(
      "A chosen rate that is the lowest or the highest tried says that a better one may lie beyond.");
}

/// "with 4 layers after 0.80 (0.75 to 0.85) of its steps; ..."
std::string time_words(const Grid& grid, const Figures& all) {
  std::string words;
  for (const std::int64_t layers : grid.depths)
    if (const auto& shares = all.at(fmt::format("time.L{}", layers)); !shares.empty())
      words += fmt::format("{}with {} after {} of its steps", words.empty() ? "" : "; ",
                           counted(layers, "layer"), mean_and_range(shares, 3));
  return words.empty()
             ? "Too few runs have finished to say how soon Pre-LN gets where Post-LN ends."
             : "Pre-LN without warm-up is where Post-LN with it ends " + words + " (1: not before the end).";
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const Figures all = figures(results);
  add_setting(page, results, grid);
  if (grid.rates.size() > 1) page.html.heading("Loss against rate");
  for (const std::int64_t warmup : grid.rates.size() > 1 ? grid.warmups : std::vector<std::int64_t>{})
    page.figure(
        fmt::format("loss-w{}", warmup), loss_by_rate(results, grid, warmup),
        fmt::format("The lower, and the wider its valley, the better. Points are means over {}, bars go "
                    "from the lowest to the highest.",
                    counted(static_cast<std::int64_t>(grid.seeds.size()), "seed")));
  page.html.heading("Who ends better");
  page.html.paragraph("Each with the rate and warm-up that suit it: " +
                      for_depths(grid, all, "end", "Pre-LN ends lower", "Post-LN ends lower"));
  page.html.paragraph("Pre-LN without warm-up against Post-LN with it: " +
                      for_depths(grid, all, "without", "Post-LN ends lower", "Pre-LN ends lower"));
  add_table(page, results, grid);
  page.html.heading("How soon");
  page.figure("curves", curves(results, grid), time_words(grid, all) + " " + band_words(grid.seeds.size()));
  page.html.heading("What this does not show");
  page.html.list(
      {fmt::format(
           "Long trainings: these see {} characters, and end far above what a larger model comes to "
           "(nanoGPT's own setting: 1.88 nats on tiny Shakespeare, after 1.5 million characters). Who "
           "is ahead early need not be later.",
           grid.steps * 16 * 32),
       "Wide models: 64 channels. Where rates begin to fail depends on width.",
       "Other optimizers: AdamW with a clipped gradient, which spares Post-LN some of the first steps' harm.",
       "Time in seconds: steps cost nearly the same in all placements here, so steps stand for time."});
}

}  // namespace gradus::lab::real_text
