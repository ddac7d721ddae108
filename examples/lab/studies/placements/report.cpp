#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/placements/placements.h"

namespace gradus::lab::placements {

namespace {

std::vector<std::string> depth_titles(const Part& part) {
  std::vector<std::string> titles;
  for (const std::int64_t layers : part.depths) titles.push_back(counted(layers, "layer"));
  return titles;
}

kit::HeatMap loss_map(const StudyResults& results, const Part& part) {
  kit::HeatMap map{.title = "Final loss at each placement's chosen rate",
                   .x_label = "layers",
                   .y_label = "placement",
                   .value_label = "nats per character above the entropy, mean over seeds",
                   .decimals = 3,
                   .low_is_good = true,
                   .worst = tiny_task().context_free_loss() - *tiny_task().entropy()};
  for (const std::int64_t layers : part.depths) map.columns.push_back(std::to_string(layers));
  for (const nn::Placement& placement : part.placements) {
    map.rows.push_back(placement.name);
    for (const std::int64_t layers : part.depths)
      map.values.push_back(mean(finite(best_of(results, part.search(placement, layers)).values)) -
                           *tiny_task().entropy());
  }
  return map;
}

/// "ReZero (0.728), Peri-LN (0.75) and Keel (0.76)": the best at a depth.
std::string best_words(const StudyResults& results, const Part& part, std::int64_t layers,
                       std::size_t count) {
  std::vector<std::pair<double, std::string>> order;
  for (const nn::Placement& placement : part.placements)
    if (const double loss = mean(finite(best_of(results, part.search(placement, layers)).values));
        !std::isnan(loss))
      order.emplace_back(loss, placement.name);
  std::sort(order.begin(), order.end());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    words.push_back(fmt::format("{} ({:.3f})", order[i].second, order[i].first));
  return words.empty() ? "nothing yet" : listed(words);
}

void add_losses(Page& page, const StudyResults& results, const Part& part) {
  std::string sentence = "Dark is good. Best of all";
  for (const std::int64_t layers : part.depths)
    sentence += fmt::format("{} with {}: {}", layers == part.depths.front() ? "," : ";",
                            counted(layers, "layer"), best_words(results, part, layers, 3));
  page.figure("losses", loss_map(results, part), sentence + ".");

  kit::Table table{.caption = "Final loss (nats per character): mean over seeds, least and largest",
                   .header = {"Placement"}};
  kit::Table equations{.caption = "What each computes",
                       .header = {"Placement", "One branch or block", "Source"}};
  for (const std::string& depth : depth_titles(part)) {
    table.header.push_back(depth);
    table.header.push_back("chosen rate");
  }
  for (const nn::Placement& placement : part.placements) {
    equations.rows.push_back({placement.name, "`" + placement.equation + "`", placement.paper});
    std::vector<std::string> row{placement.name};
    for (const std::int64_t layers : part.depths) {
      const Found found = best_of(results, part.search(placement, layers));
      row.push_back(mean_and_range(found.values));
      row.push_back(chosen_rates(found));
    }
    table.rows.push_back(std::move(row));
  }
  page.html.table(table);
  page.html.folded_table(equations);
}

void add_above(Page& page, const StudyResults& results, const Part& part) {
  kit::BarChart chart{.title = "Loss above the better of Pre-LN and Post-LN",
                      .value_label = "nats per character, at its worst depth",
                      .decimals = 3};
  kit::BarSeries bars;
  constexpr double kDrawn = 10;  // a bar of thousands would leave nothing of the others
  std::vector<std::string> above, off;
  for (const nn::Placement& placement : part.placements) {
    const std::vector<double> values = finite(above_at_worst(results, part, placement));
    if (values.empty()) continue;
    const Spread spread = spread_of(values);
    if (spread.low > 0) above.push_back(placement.name);
    if (spread.mean > kDrawn) {
      off.push_back(fmt::format("{} ({})", placement.name, kit::number_text(spread.mean, 3)));
      continue;
    }
    chart.categories.push_back(placement.name);
    bars.values.push_back(spread.mean);
    bars.low.push_back(spread.low);
    bars.high.push_back(spread.high);
  }
  if (bars.values.empty()) return;
  chart.series = {bars};
  page.figure(
      "above", chart,
      fmt::format("A seed's worst depth is that of the other seeds. Bars are means over seeds, error bars go "
                  "from the lowest to the highest. Above 0 on every seed: {}.{}",
                  above.empty() ? "none" : listed(above),
                  off.empty() ? "" : " Not drawn: " + listed(off) + "."));
}

/// Whether the means of a search are least at its first or last rate.
bool at_edge(const StudyResults& results, const Search& search) {
  std::vector<double> means;
  for (const double rate : search.rates) means.push_back(mean(finite(at_rate(results, search, rate))));
  if (means.size() < 3 || std::any_of(means.begin(), means.end(), [](double m) { return std::isnan(m); }))
    return false;
  const auto best = std::min_element(means.begin(), means.end()) - means.begin();
  return best == 0 || best + 1 == static_cast<std::ptrdiff_t>(means.size());
}

void add_search(Page& page, const StudyResults& results, const Part& part) {
  page.html.heading("The search of rates");
  page.html.paragraph(fmt::format(
      "At one depth every placement has the same rates. Pre-LN, Post-LN and the placements the "
      "ledger asks about have {}, the others {}. A seed's rate is the one that is best in the mean "
      "of the **other** seeds, so that no seed chooses what it is judged by.",
      counted(std::ssize(part.seeds), "seed"), counted(std::ssize(part.few_seeds), "seed")));
  for (const std::int64_t layers : part.depths) {
    kit::HeatMap map{.title = fmt::format("{}, by rate", counted(layers, "layer")),
                     .x_label = "learning rate",
                     .y_label = "placement",
                     .value_label = "final loss, nats per character, mean over seeds",
                     .decimals = 2,
                     .low_is_good = true,
                     .worst = tiny_task().context_free_loss()};
    std::vector<std::string> edges;
    for (const double rate : part.rates.at(layers)) map.columns.push_back(kit::number_text(rate));
    for (const nn::Placement& placement : part.placements) {
      const Search search = part.search(placement, layers);
      map.rows.push_back(placement.name);
      for (const double rate : search.rates)
        map.values.push_back(mean(finite(at_rate(results, search, rate))));
      if (at_edge(results, search)) edges.push_back(placement.name);
    }
    page.figure(fmt::format("search-L{}", layers), map,
                part.rates.at(layers).size() < 3
                    ? std::string("With so few rates, the best may lie outside the search.")
                : edges.empty()
                    ? std::string("No placement's best rate is at an edge of the search.")
                    : fmt::format("Best at an edge of the search, and perhaps better outside it: {}.",
                                  listed(edges)));
  }
}

kit::LineChart depth_chart(const StudyResults& results, const Part& deep) {
  kit::LineChart chart{.title = "Final loss of very deep stacks",
                       .x_label = "layers",
                       .y_label = "final loss (nats per character)",
                       .x_axis = kit::AxisKind::log,
                       .series = {},
                       .references = {{.at = tiny_baseline(), .label = "n-gram"},
                                      {.at = tiny_task().context_free_loss(), .label = "context-free"}}};
  for (const std::int64_t layers : deep.depths) chart.x_ticks.push_back(static_cast<double>(layers));
  int style = 0;
  for (const nn::Placement& placement : deep.placements) {
    std::vector<double> depths;
    std::vector<std::vector<double>> losses;
    for (const std::int64_t layers : deep.depths) {
      depths.push_back(static_cast<double>(layers));
      losses.push_back(best_of(results, deep.search(placement, layers)).values);
    }
    kit::Series series = band(placement.name, depths, losses, style++);
    series.spread = kit::Spread::error_bars;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

void add_deep(Page& page, const StudyResults& results, const Part& deep) {
  page.html.heading("Hundreds of layers");
  page.html.paragraph(fmt::format(
      "The same models with {} layers, {} steps, rates of {}. A stack **trains** if it ends below the loss "
      "of a reader that ignores the context ({:.3f}): stacks that pass no signal end there. It **learned** "
      "if it ends below what the last few characters allow ({:.3f}).",
      listed(deep.depths), deep.steps, listed(deep.rates.at(deep.depths.front())),
      tiny_task().context_free_loss(), tiny_baseline()));
  kit::Table table{.caption = "Final loss (nats per character), chosen rate, runs at it that learned",
                   .header = {"Placement"}};
  for (const std::string& depth : depth_titles(deep)) table.header.push_back(depth);
  std::vector<std::string> stuck;
  for (const nn::Placement& placement : deep.placements) {
    std::vector<std::string> row{placement.name};
    for (const std::int64_t layers : deep.depths) {
      const Found found = best_of(results, deep.search(placement, layers));
      const std::vector<double> losses = finite(found.values);
      const auto learned =
          std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < tiny_baseline(); });
      row.push_back(fmt::format("{}; rate {}; {} of {}", mean_and_range(losses), chosen_rates(found), learned,
                                losses.size()));
      if (!losses.empty() && mean(losses) > tiny_task().context_free_loss() - 0.1)
        stuck.push_back(fmt::format("{} with {}", placement.name, layers));
    }
    table.rows.push_back(std::move(row));
  }
  if (const kit::LineChart chart = depth_chart(results, deep); !chart.series.empty())
    page.figure(
        "deep", chart,
        fmt::format(
            "Lines are means over seeds, bars go from the lowest to the highest: of {} for Pre-LN and "
            "{} for the others. Not a tenth of a nat below the context-free loss in the mean: {}.",
            std::ssize(deep.seeds), counted(std::ssize(deep.few_seeds), "seed"),
            stuck.empty() ? "none" : listed(stuck)));
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Part part = all_part(results.options), deep = deep_part(results.options);
  page.html.heading("All placements");
  page.html.paragraph(tiny_words(part.steps));
  page.html.paragraph(
      "Initial matrices are N(0, 1/fan_in) for all, the same numbers seed by seed, but for what a "
      "placement sets itself: ReZero its zeros, DeepNorm its matrices, Admin its shortcuts (measured on "
      "the first batch). To overcome **both** limits a placement must be as good as the better of Pre-LN "
      "and Post-LN at every depth: where Post-LN fails that is Pre-LN, where Post-LN ends lower it is "
      "Post-LN.");
  add_losses(page, results, part);
  add_above(page, results, part);
  add_search(page, results, part);
  add_deep(page, results, deep);
  page.html.heading("What this does not show");
  page.html.list(
      {"Large models. Sixteen channels leave each norm little to average over, and the papers' gains are "
       "measured on models of 10^8 parameters and more, for whole data sets instead of a few hundred steps.",
       "The long run. With a fixed number of steps a placement that starts slowly looks bad, even if it "
       "would end well; the budget is the same for all, not enough for all.",
       "The papers' own recipes: initial weights, warm-ups and rates that were chosen for a placement. "
       "Here all share one recipe, which is what makes them comparable, and may suit none.",
       "Small differences. With so few seeds, and an interval corrected for as many comparisons as there "
       "are placements, only large differences can be told from chance; \u201Cunclear\u201D is no "
       "\u201Cequal\u201D."});
}

}  // namespace gradus::lab::placements
