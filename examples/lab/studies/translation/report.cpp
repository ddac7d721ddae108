// The page of the study `translation`.

#include <fmt/format.h>

#include <algorithm>

#include "lab/studies/translation/long_training.h"
#include "lab/studies/translation/translation.h"

namespace gradus::lab::translation {

namespace {

void add_setting(Page& page, const Grid& grid) {
  const TrainOptions& training = grid.training;
  page.html.heading("The setting");
  page.html.key_values(
      "Settings of all runs",
      {{"model", fmt::format("encoder and decoder of {} layers each, {} channels, {} heads, FFN of {}; one "
                             "embedding; Xavier; no dropout",
                             training.layers, training.d_model, training.heads, training.d_ff)},
       {"sentences", fmt::format("pairs of at most {} tokens on either side; byte-level BPE of {} tokens, "
                                 "learned from the training text",
                                 grid.selection.longest, grid.selection.vocabulary)},
       {"test", fmt::format("the first {} such pairs of the test files; greedy decoding; BLEU of whole, "
                            "cased sentences (13a)",
                            grid.selection.test)},
       {"optimizer", "Adam, betas 0.9 and 0.98, no clipping; label smoothing 0.1"},
       {"rate", "up over the warm-up, and linearly down to 0 at the last step, with and without it"},
       {"steps and batch",
        fmt::format("{} steps of at most {} tokens on either side", training.steps, training.tokens)},
       {"rates", listed(grid.rates)},
       {"steps of warm-up", listed(grid.warmups)},
       {"seeds", std::to_string(grid.seeds.size())}});
  page.html.paragraph(
      "Both placements have the same rates, so the same search. These rules were fixed before the first run: "
      "a training that diverged (a loss not finite or above 4 log(vocabulary)) has BLEU 0; for each seed the "
      "rate is the one that is best on average over the other seeds; a seed for which BLEU with warm-up is "
      "below 1 says nothing about warm-up and is left out.");
}

/// A warm-up, as an item of charts and tables.
struct Warmup {
  std::string name;
  std::int64_t steps;
};
std::vector<Warmup> warmups_of(const Grid& grid) {
  std::vector<Warmup> all;
  for (const std::int64_t steps : grid.warmups) all.push_back({describe_warmup(steps), steps});
  return all;
}

kit::Panels by_rate_chart(const StudyResults& results, const Grid& grid, const std::string& number,
                          const std::string& title, const std::string& label) {
  return panels(title, kPlacements, [&](const std::string& placement) {
    const auto values = [&](const Warmup& warmup, double rate) {
      Search search = grid.search(placement, warmup.steps);
      search.number = number;
      return at_rate(results, search, rate);
    };
    return kit::LineChart{.title = placement,
                          .x_label = "learning rate",
                          .y_label = label,
                          .x_axis = kit::AxisKind::log,
                          .x_ticks = grid.rates,
                          .series = lines(warmups_of(grid), grid.rates, values)};
  });
}

kit::Panels curves(const StudyResults& results, const Grid& grid, double rate) {
  return panels(
      fmt::format("Training loss at rate {}", kit::number_text(rate)), kPlacements,
      [&](const std::string& placement) {
        const auto losses = [&](const Warmup& warmup) {
          return Runs(results, grid.seeds,
                      [&](std::uint64_t seed) { return run_name(placement, warmup.steps, rate, seed); })
              .curves("losses");
        };
        return kit::LineChart{
            .title = placement,
            .x_label = "step",
            .y_label = "loss with label smoothing (nats per token)",
            .series = lines_of_curves(warmups_of(grid), losses, ends_of_slices(grid.training.steps, 20))};
      });
}

/// "0.3 (0.2 to 0.4), less than half on every seed"
std::string describe_ratios(const std::vector<double>& ratios) {
  const auto below = [&](double limit) {
    return std::count_if(ratios.begin(), ratios.end(), [=](double ratio) { return ratio < limit; });
  };
  const auto all = static_cast<std::ptrdiff_t>(ratios.size());
  const std::string size =
      below(0.5) == all ? "less than half on every seed"
      : below(0.9) == 0 ? "nine tenths or more on every seed"
                        : fmt::format("less than half on {} and less than nine tenths on {} of {} seeds",
                                      below(0.5), below(0.9), all);
  return fmt::format("{}, {}", mean_and_range(ratios), size);
}

/// The share of BLEU that remains without warm-up, at the rate that suits the placement with it and at its
/// best.
std::string answer(const std::string& placement, const std::vector<double>& same,
                   const std::vector<double>& own, bool one_rate) {
  if (same.empty() || own.empty())
    return fmt::format("{}: too few runs have finished, or reach 1 BLEU with warm-up.", placement);
  if (one_rate)
    return fmt::format("BLEU of {0} without warm-up divided by BLEU with it: {1}.", placement,
                       describe_ratios(same));
  return fmt::format(
      "BLEU of {0} without warm-up divided by BLEU with it: {1} at the rate that is best with warm-up; {2} "
      "at the rate that is best without.",
      placement, describe_ratios(same), describe_ratios(own));
}

void add_table(Page& page, const StudyResults& results, const Grid& grid) {
  kit::Table table{.caption = "BLEU: mean (lowest to highest seed)",
                   .header = {"Placement", "Steps of warm-up", "At the best rate"}};
  for (const double rate : grid.rates) table.header.push_back("Rate " + kit::number_text(rate));
  table.header.push_back("Diverged");
  for (const std::string& placement : kPlacements)
    for (const std::int64_t warmup : grid.warmups) {
      const Search search = grid.search(placement, warmup);
      std::vector<std::string>& row = table.rows.emplace_back();
      row = {placement, std::to_string(warmup), mean_and_range(best_of(results, search).values)};
      for (const std::vector<double>& bleu : by_rate(results, search)) row.push_back(mean_and_range(bleu));
      const std::vector<double> diverged = of_all_rates(results, search, "diverged");
      row.push_back(std::to_string(std::count(diverged.begin(), diverged.end(), 1.0)));
    }
  page.html.table(table);
}

void add_paper(Page& page, const StudyResults& results, const Grid& grid) {
  const std::int64_t warm = grid.warmups.back();
  const auto bleu = [&](const char* placement, std::int64_t warmup) {
    return mean_and_range(best_of(results, grid.search(placement, warmup)).values);
  };
  page.html.heading("Comparison with the paper");
  page.html.table(
      {.caption = "BLEU and settings side by side",
       .header = {"", "Xiong et al. 2020", "here"},
       .rows = {{"text", "IWSLT'14 German-English, about 153,000 pairs",
                 fmt::format("pairs of at most {} tokens", grid.selection.longest)},
                {"model", "6 + 6 layers, d_model 512",
                 fmt::format("{0} + {0} layers, d_model {1}", grid.training.layers, grid.training.d_model)},
                {"warm-up", "4,000 steps", fmt::format("{} of {} steps", warm, grid.training.steps)},
                {"Post-LN without warm-up", "8.45", bleu("Post-LN", 0)},
                {"Post-LN with it", "about 34", bleu("Post-LN", warm)},
                {"Pre-LN without warm-up", "about 34", bleu("Pre-LN", 0)},
                {"Pre-LN with it", "\u2013", bleu("Pre-LN", warm)}}});
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const Figures all = figures(results);
  add_setting(page, grid);
  page.html.heading("BLEU with and without warm-up");
  for (const auto& [name, placement] : {std::pair("post", "Post-LN"), std::pair("pre", "Pre-LN")})
    page.html.paragraph(answer(placement, all.at(std::string(name) + "-same"),
                               all.at(std::string(name) + "-ratio"), grid.rates.size() == 1));
  if (grid.rates.size() > 1)
    page.figure("bleu", by_rate_chart(results, grid, "bleu", "BLEU against the rate", "BLEU"),
                fmt::format("Where the two lines of a panel differ, warm-up matters. Points are means over "
                            "{}; bars range from the lowest to the highest.",
                            count_seeds(grid.seeds.size())));
  add_table(page, results, grid);
  page.html.heading("Losses");
  if (grid.rates.size() > 1)
    page.figure("loss",
                by_rate_chart(results, grid, "loss", "Loss on the test pairs", "loss (nats per token)"),
                "BLEU is coarse where little is right; the loss is not. A run that diverged is drawn at its "
                "initial loss.");
  for (const double rate : grid.rates)
    page.figure("curves-lr" + kit::number_text(rate), curves(results, grid, rate),
                "Without warm-up the loss falls sooner at first; see whether it keeps falling. " +
                    describe_bands(grid.seeds.size()));
  report_long(page, results);
  add_paper(page, results, grid);
  page.limits(
      {"Training for many epochs, which might make up for the lack of warm-up: the rate falls to 0 after "
       "these "
       "steps.",
       "What warm-up does where Post-LN with it translates worse than Pre-LN with it: the ledger decides "
       "nothing there.",
       "Long sentences, large vocabularies, wide models, dropout, beam search.",
       "Which placement translates better in the end: that would take the whole corpus and many epochs."});
}

}  // namespace gradus::lab::translation
