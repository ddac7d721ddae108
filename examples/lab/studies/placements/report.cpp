#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/placements/placements.h"
#include "lab/studies/placements/searched.h"

namespace gradus::lab::placements {

namespace {

double mean_loss(const StudyResults& results, const Search& search) {
  return mean(finite(best_of(results, search).values));
}

/// "ReZero (0.728), Peri-LN (0.75) and Keel (0.76)": the best at a depth.
std::string describe_best(const StudyResults& results, const Part& part, std::int64_t layers,
                          std::size_t count) {
  const auto order = ranked(part.placements, [&](const nn::Placement& placement) {
    return best_of(results, part.search(placement, layers)).values;
  });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    words.push_back(fmt::format("{} ({:.3f})", order[i].second, order[i].first));
  return words.empty() ? "nothing yet" : listed(words);
}

void add_losses(Page& page, const StudyResults& results, const Part& part) {
  std::string sentence = "Dark is good. The best three placements";
  for (const std::int64_t layers : part.depths)
    sentence += fmt::format("{} with {}: {}", layers == part.depths.front() ? "" : ";",
                            counted(layers, "layer"), describe_best(results, part, layers, 3));
  kit::HeatMap map{.title = "Final loss at each placement's chosen rate",
                   .x_label = "layers",
                   .y_label = "placement",
                   .value_label = "nats per character above the entropy, mean over seeds",
                   .decimals = 3,
                   .low_is_good = true,
                   .worst = tiny_task().context_free_loss() - *tiny_task().entropy()};
  for (const std::int64_t layers : part.depths) map.columns.push_back(std::to_string(layers));
  kit::Table table{.caption = "Final loss (nats per character): mean over seeds, lowest and highest",
                   .header = {"Placement"}};
  kit::Table equations{.caption = "Equations", .header = {"Placement", "One branch or block", "Source"}};
  for (const std::int64_t layers : part.depths)
    table.header.insert(table.header.end(), {counted(layers, "layer"), "chosen rate"});
  for (const nn::Placement& placement : part.placements) {
    equations.rows.push_back({placement.name, "`" + placement.equation + "`", placement.paper});
    map.rows.push_back(placement.name);
    std::vector<std::string>& row = table.rows.emplace_back(1, placement.name);
    for (const std::int64_t layers : part.depths) {
      const Found found = best_of(results, part.search(placement, layers));
      map.values.push_back(mean(finite(found.values)) - *tiny_task().entropy());
      row.insert(row.end(), {mean_and_range(found.values), chosen_rates(found)});
    }
  }
  page.figure("losses", map, sentence + ".");
  page.html.table(table);
  page.html.folded_table(equations);
}

void add_above(Page& page, const StudyResults& results, const Part& part) {
  kit::BarChart chart{.title = "Loss above the better of Pre-LN and Post-LN",
                      .value_label = "nats per character, at its worst depth",
                      .decimals = 3};
  kit::BarSeries bars;
  constexpr double kDrawn = 10;  // a bar of thousands would make the others invisible
  std::vector<std::string> above, off;
  for (const nn::Placement& placement : part.placements) {
    const std::vector<double> values = finite(above_at_worst(results, part, placement));
    if (values.empty()) continue;
    const Spread spread = spread_of(values);
    if (spread.low > 0) above.push_back(placement.name);
    if (spread.mean > kDrawn) {
      off.push_back(fmt::format("{} ({})", placement.name, kit::number_text(spread.mean, 3)));
    } else {
      chart.categories.push_back(placement.name);
      add_bar(bars, values);
    }
  }
  if (bars.values.empty()) return;
  chart.series = {bars};
  page.figure("above", chart,
              fmt::format("Each seed's worst depth is chosen on the other seeds. Bars are means over seeds; "
                          "error bars range from the lowest to the highest. Above 0 on every seed: {}.{}",
                          above.empty() ? "none" : listed(above),
                          off.empty() ? "" : " Not drawn: " + listed(off) + "."));
}

/// Whether the means of a search are lowest at its first or last rate.
bool at_edge(const std::vector<double>& means) {
  if (means.size() < 3 || finite(means).size() < means.size()) return false;
  const auto best = std::min_element(means.begin(), means.end());
  return best == means.begin() || best + 1 == means.end();
}

void add_search(Page& page, const StudyResults& results, const Part& part) {
  page.html.heading("The search of rates");
  page.html.paragraph(fmt::format(
      "At one depth every placement has the same rates. Pre-LN, Post-LN and the placements the ledger asks "
      "about have {}, the others {}. A seed's rate is the one that is best on average over the **other** "
      "seeds, so no seed takes part in choosing the rate it is judged at.",
      count_seeds(part.seeds.size()), count_seeds(part.few_seeds.size())));
  for (const std::int64_t layers : part.depths) {
    std::vector<std::string> edges;
    for (const nn::Placement& placement : part.placements)
      if (at_edge(means_by_rate(results, part.search(placement, layers)))) edges.push_back(placement.name);
    const kit::HeatMap axes{.title = fmt::format("{}, by rate", counted(layers, "layer")),
                            .x_label = "learning rate",
                            .y_label = "placement",
                            .value_label = "final loss, nats per character, mean over seeds",
                            .decimals = 2,
                            .low_is_good = true,
                            .worst = tiny_task().context_free_loss()};
    page.figure(
        fmt::format("search-L{}", layers),
        filled(axes, part.placements, part.rates.at(layers),
               [&](const nn::Placement& placement, double rate) {
                 return mean(finite(at_rate(results, part.search(placement, layers), rate)));
               }),
        part.rates.at(layers).size() < 3
            ? std::string("With so few rates, the best may lie outside the search.")
        : edges.empty()
            ? std::string("No placement's best rate is at an edge of the search.")
            : fmt::format(
                  "These placements are best at an edge of the search and may be better outside it: {}.",
                  listed(edges)));
  }
}

void add_deep(Page& page, const StudyResults& results, const Part& deep) {
  page.html.heading("Hundreds of layers");
  page.html.paragraph(fmt::format(
      "The same models with {} layers, {} steps, rates of {}. A stack **trains** if it ends below the loss "
      "of a reader that ignores the context ({:.3f}): stacks that pass no signal end there. It **learned** "
      "if it ends below the loss that the last few characters allow ({:.3f}).",
      listed(deep.depths), deep.steps, listed(deep.rates.at(deep.depths.front())),
      tiny_task().context_free_loss(), tiny_baseline()));
  const auto best = [&](const nn::Placement& placement, std::int64_t layers) {
    return best_of(results, deep.search(placement, layers));
  };
  std::vector<std::string> stuck;
  for (const nn::Placement& placement : deep.placements)
    for (const std::int64_t layers : deep.depths)
      if (mean_loss(results, deep.search(placement, layers)) > tiny_task().context_free_loss() - 0.1)
        stuck.push_back(fmt::format("{} with {} layers", placement.name, layers));
  const kit::LineChart chart{
      .title = "Final loss of very deep stacks",
      .x_label = "layers",
      .y_label = "final loss (nats per character)",
      .x_axis = kit::AxisKind::log,
      .x_ticks = as_doubles(deep.depths),
      .series = lines(deep.placements, deep.depths,
                      [&](const nn::Placement& placement, std::int64_t layers) {
                        return best(placement, layers).values;
                      }),
      .references = {{.at = tiny_baseline(), .label = "n-gram"},
                     {.at = tiny_task().context_free_loss(), .label = "context-free"}}};
  page.figure(
      "deep", chart,
      fmt::format(
          "Lines are means over seeds; bars range from the lowest to the highest of {} seeds for "
          "Pre-LN and of {} for the others. These end, on average, less than a tenth of a nat below the "
          "context-free loss: {}.",
          deep.seeds.size(), count_seeds(deep.few_seeds.size()), stuck.empty() ? "none" : listed(stuck)));
  page.html.table(cross_table("Final loss (nats per character), chosen rate, runs at it that learned",
                              "Placement", deep.placements, deep.depths,
                              [&](const nn::Placement& placement, std::int64_t layers) {
                                const Found found = best(placement, layers);
                                std::vector<double> below;
                                for (const double loss : finite(found.values))
                                  below.push_back(tiny_baseline() - loss);
                                return fmt::format("{}; rate {}; {}", mean_and_range(found.values),
                                                   chosen_rates(found), share_of(below));
                              }));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Part part = all_part(results.options), deep = deep_part(results.options);
  page.html.heading("All placements");
  page.html.paragraph(describe_tiny(part.steps));
  page.html.paragraph(
      "Initial matrices are N(0, 1/fan_in) for all, the same numbers seed by seed, except for those a "
      "placement sets itself: ReZero its zeros, DeepNorm its matrices, Admin its shortcuts (measured on the "
      "first batch). To overcome **both** limits a placement must be as good as the better of Pre-LN and "
      "Post-LN at every depth: where Post-LN fails that is Pre-LN, where Post-LN ends lower it is Post-LN.");
  add_losses(page, results, part);
  add_above(page, results, part);
  add_search(page, results, part);
  add_deep(page, results, deep);
  add_searched(page, results);
  page.limits(
      {"Large models. Sixteen channels leave each norm little to average over, and the papers' gains are "
       "measured on models of 10^8 parameters and more, for whole data sets instead of a few hundred steps.",
       "The long run. With a fixed number of steps a placement that starts slowly looks bad, even if it "
       "would end well; the budget is the same for all, not enough for all.",
       "The papers' own recipes: initial weights, warm-ups and rates that were chosen for a placement. In "
       "the "
       "first sections all share one recipe, which makes them comparable and may suit none; in the last two "
       "weights and rates are searched, the schedule is not.",
       "Small differences. With so few seeds, and an interval corrected for as many comparisons as there are "
       "placements, only large differences can be distinguished from chance; \u201Cunclear\u201D does not "
       "mean \u201Cequal\u201D."});
}

}  // namespace gradus::lab::placements
