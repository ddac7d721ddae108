// The page of the study `statements`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/search.h"
#include "lab/studies/statements/statements.h"

namespace gradus::lab::statements {

namespace {

using kit::fixed_text;
using kit::number_text;

const std::array<Titled, 2> kPair = {{{"pre", "Pre-LN"}, {"post", "Post-LN"}}};

std::string title_of(Early early) {
  switch (early) {
    case Early::warm_up:
      return "rising to r";
    case Early::small:
      return "r/10";
    case Early::level:
      return "r";
    case Early::large:
      return "3r";
  }
  return {};
}

std::string describe_failed(const Found& found, Early early) {
  const Survival survival =
      survival_of(finite(found.losses(early)), task(found.arm().chain).context_free_loss());
  return survival.runs == 0 ? "\u2013" : fmt::format("{} of {}", survival.failed, survival.runs);
}

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The setting");
  page.html.key_values(
      "Settings of all runs",
      {{"model", "GPT, d_model 32, 4 heads; a final norm except in Post-LN"},
       {"task", "recall language, 32 characters, 10 boxes of 5 things, a chain of 0, 1 or 2"},
       {"initial weights", "N(0, 1/fan_in), matrices into the stream over sqrt(2L)"},
       {"optimizer", "Adam, betas 0.9 and 0.999, no decay, no clipping"},
       {"steps and batch", fmt::format("{} steps of 4 lines", grid.steps)},
       {"layers", listed(grid.depths)},
       {"rates",
        listed(std::vector<double>(grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.first),
                                   grid.ladder.begin() + static_cast<std::ptrdiff_t>(grid.last) + 1))},
       {"searching seeds, judging seeds", fmt::format("{}, {}", grid.searching.size(), grid.judging)}});
  page.html.paragraph(fmt::format(
      "The rate rises to r over the first {} steps, a quarter, and then falls to 0 along half a cosine. For "
      "each block, depth and chain, r was searched on seeds that do not judge. A run **fails** when it ends "
      "at the loss of predicting without context or above; it **trains** when it ends below the best n-gram. "
      "Failed runs enter no figure; their numbers are in the tables.",
      grid.steps / 4));
  kit::Table levels{.caption = "Levels of difficulty, in nats per character",
                    .header = {"Chain", "Rows of the table", "Without context", "Best n-gram", "Entropy"}};
  for (const std::int64_t chain : kChains)
    levels.rows.push_back({std::to_string(chain), number_text(std::pow(10, chain)),
                           fixed_text(task(chain).context_free_loss(), 3), fixed_text(learned_loss(chain), 3),
                           fixed_text(task(chain).entropy().value(), 3)});
  page.html.table(levels);
}

void add_arms(Page& page, const Arms& arms) {
  kit::Table table{
      .caption = "Each arm at its best rate, with warm-up",
      .header = {"", "Runs of the search", "Rate r", "At an edge", "Failed", "Loss of the others", "Train"}};
  for (const Found& found : arms.all()) {
    const std::vector<double> losses = finite(found.losses());
    const auto trained = std::count_if(losses.begin(), losses.end(),
                                       [&](double loss) { return loss < learned_loss(found.arm().chain); });
    table.rows.push_back({found.arm().title(), std::to_string(found.searched().runs.size()),
                          found.rate() ? number_text(*found.rate()) : "not finished",
                          !found.rate()              ? ""
                          : found.searched().at_edge ? "yes"
                                                     : "no",
                          describe_failed(found, Early::warm_up), mean_and_range(found.surviving()),
                          losses.empty() ? "\u2013" : fmt::format("{} of {}", trained, losses.size())});
  }
  page.html.heading("The searches, and the losses on the judging seeds");
  page.html.table(table);
}

void add_places(Page& page, const Arms& arms, const Grid& grid) {
  page.html.heading("A norm right before the nonlinearity");
  page.html.paragraph(
      "All three have Pre-LN's attention, and differ at the FFN: W2 act(W1 LN(x)), W2 act(LN(W1 x)) and W2 "
      "act(W1 x). The matrices start with the same numbers. A difference above 0 is a loss above that of the "
      "norm before the activation.");
  const std::array<Titled, 2> others = {{kBlocks[0], kBlocks[2]}};
  page.html.table(
      cross_table("Loss minus that with the norm before the activation (nats), by judging seed: "
                  "mean (lowest to highest)",
                  "", others, grid.depths, [&](const Titled& block, std::int64_t layers) {
                    return mean_and_range(minus(arms.of(block.name, layers).surviving(),
                                                arms.of("hidden", layers).surviving()));
                  }));
}

/// The gap as a share of what the better of the two leaves.
std::vector<double> gap_of_left(const Arms& arms, std::int64_t layers, std::int64_t chain) {
  const std::vector<double> pre = finite(arms.of("pre", layers, chain).surviving()),
                            post = finite(arms.of("post", layers, chain).surviving());
  if (pre.empty() || post.empty()) return {};
  const double left = std::min(mean(pre), mean(post)) - task(chain).entropy().value();
  std::vector<double> gaps = relative_gap(arms, layers, chain);
  for (double& gap : gaps) gap *= learnable(chain) / left;
  return gaps;
}

void add_difficulty(Page& page, const Arms& arms, const Grid& grid) {
  page.html.heading("Harder tasks");
  page.html.paragraph(
      "A chain of k was declared harder than one of k \u2212 1 before the first run: its table has ten times "
      "as many rows. A gap is Post-LN's loss minus Pre-LN's at the same depth, each at its best rate.");
  const std::vector<std::int64_t> chains(kChains.begin(), kChains.end());
  const kit::LineChart chart{
      .title = "Gap between Post-LN and Pre-LN by difficulty",
      .x_label = "chain",
      .y_label = "share of what can be learned",
      .x_ticks = as_doubles(chains),
      .series = lines(grid.depths, chains, [&](std::int64_t layers, std::int64_t chain) {
        return relative_gap(arms, layers, chain);
      })};
  page.figure("difficulty", chart,
              "Gaps are divided by the distance from the loss without context to the entropy. " +
                  describe_bars(static_cast<std::size_t>(grid.judging)));
  page.html.table(
      cross_table("Gap as a share of what the better of the two leaves: its distance to the "
                  "entropy; mean (lowest to highest seed)",
                  "", grid.depths, chains, [&](std::int64_t layers, std::int64_t chain) {
                    return mean_and_range(gap_of_left(arms, layers, chain));
                  }));
}

void add_stability(Page& page, const Arms& arms, const Grid& grid) {
  page.html.heading("Early stability and the end");
  page.html.paragraph(fmt::format(
      "Runs of one setting differ by the seed alone. A run's **spike** is the largest rise of its loss, a "
      "mean of five steps, above its lowest earlier value in the first tenth of the run; its **early loss** "
      "is "
      "the mean there. Each group of {} seeds has one rank correlation with the final loss, of its surviving "
      "runs: 1 if the steadiest run ends best.",
      grid.group));
  kit::Table table{.caption = "Rank correlation with the final loss: mean (lowest to highest group)",
                   .header = {"", "Early rate", "Failed", "Spike", "Early loss"}};
  for (const std::int64_t layers : grid.depths)
    for (const Titled& block : kPair)
      for (const Early early : {Early::level, Early::large}) {
        const Found& found = arms.of(block.name, layers);
        const std::vector<double> losses = found.losses(early);
        if (finite(losses).empty()) continue;
        const auto correlation = [&](const char* number) {
          return mean_and_range(
              group_correlations(found.numbers(early, number), found.surviving(early), losses, grid.group));
        };
        table.rows.push_back({found.arm().title(), title_of(early), describe_failed(found, early),
                              correlation("spike"), correlation("early")});
      }
  if (!table.rows.empty()) page.html.table(table);
}

void add_exploration(Page& page, const Arms& arms, const Grid& grid) {
  page.html.heading("Large early steps");
  page.html.paragraph(
      "The rate of the first quarter differs; from there on all runs of an arm have the same schedule, which "
      "begins at r.");
  kit::Table table{.caption = fmt::format("Final loss by early rate, {}, chain of {}",
                                          counted(grid.depths.front(), "layer"), kHardest),
                   .header = {"", "Early rate", "Failed", "Loss of the others"}};
  for (const Titled& block : kPair)
    for (const Early early : kEarly) {
      const Found& found = arms.of(block.name, grid.depths.front());
      if (finite(found.losses(early)).empty()) continue;
      table.rows.push_back({block.title, title_of(early), describe_failed(found, early),
                            mean_and_range(found.surviving(early))});
    }
  if (!table.rows.empty()) page.html.table(table);
  const auto chart = [&](const Titled& block) {
    kit::LineChart one{
        .title = block.title, .x_label = "step", .y_label = "training loss (nats per character)"};
    for (const Early early : kEarly) {
      kit::Series line = band_of_curves(
          title_of(early), arms.of(block.name, grid.depths.front()).curves(early), static_cast<int>(early),
          middles_of_slices(grid.steps, static_cast<std::size_t>(std::min<std::int64_t>(grid.steps, 30))));
      if (!line.x.empty()) one.series.push_back(std::move(line));
    }
    return one;
  };
  page.figure("early", panels("Training loss by early rate", kPair, chart),
              "Runs that failed are left out. Lines are means over seeds; bands range from the lowest to the "
              "highest. The number of seeds differs.");
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const Arms arms(results, grid);
  add_setting(page, grid);
  add_arms(page, arms);
  add_places(page, arms, grid);
  add_difficulty(page, arms, grid);
  add_stability(page, arms, grid);
  add_exploration(page, arms, grid);
  page.limits(
      {"**The best of all settings.** The rate alone is searched, with one kind of initial weights and one "
       "length of warm-up. An arm that would gain more from others is not at its best.",
       "**BatchNorm.** The norm before the activation is LayerNorm, in Pre-LN's blocks; Ioffe and Szegedy "
       "write about BatchNorm in convolutional networks without shortcuts.",
       "**Other kinds of difficulty.** Difficulty is the number of facts to be learned in the same steps. "
       "Longer texts, larger vocabularies and real text are others.",
       "**Causes.** A correlation among runs of one setting shows whether a steady start foretells a good "
       "end, not that it leads to one. Settings that make the start steadier are compared in `best` and "
       "`rates`.",
       "**Other sizes.** Scaling is from 6 to 12 blocks of width 32.",
       "**Exploration itself.** A lower loss after large early steps may also come from faster progress: the "
       "runs with a small early rate have had less of it. The comparison with r shows the effect of steps "
       "beyond r.",
       "**Seeds that fail.** Differences and correlations are those of the surviving runs."});
}

}  // namespace gradus::lab::statements
