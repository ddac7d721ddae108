#include <fmt/format.h>

#include "lab/studies/norms/norms.h"

namespace gradus::lab::norms {

namespace {

// Higher losses are drawn at this value.
constexpr double kTop = 2.6;

kit::Panels rate_panels(const StudyResults& results, const Setting& setting) {
  return panels("Final loss against learning rate", setting.stacks, [&](const Stack& stack) {
    const auto losses = [&](const Kind& kind, double rate) {
      std::vector<double> all = finite(at_rate(results, setting.search(stack, kind.name), rate));
      for (double& loss : all) loss = std::min(loss, kTop);
      return all;
    };
    return kit::LineChart{.title = stack.title,
                          .x_label = "learning rate",
                          .y_label = "final loss (nats per character)",
                          .x_axis = kit::AxisKind::log,
                          .y_low = 0.6,
                          .y_high = kTop,
                          .x_ticks = setting.rates,
                          .series = lines(kinds(), setting.rates, losses),
                          .references = {{.at = tiny_baseline()}, {.at = *tiny_task().entropy()}}};
  });
}

/// "0.1 (7), 0.03 (3)": the largest rates that learn, with the number of seeds.
std::string describe_largest(const StudyResults& results, const Search& search) {
  const std::vector<double> rates = finite(largest_rate(results, search, tiny_baseline(), 0));
  std::string words;
  std::vector<double> order = search.rates;
  order.insert(order.begin(), 0);
  for (auto rate = order.rbegin(); rate != order.rend(); ++rate)
    if (const auto count = std::count(rates.begin(), rates.end(), *rate); count > 0)
      words += fmt::format("{}{} ({})", words.empty() ? "" : ", ",
                           *rate > 0 ? kit::number_text(*rate) : std::string("none"), count);
  return words.empty() ? "\u2013" : words;
}

void add_rates(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Loss by norm and rate");
  page.html.paragraph(describe_tiny(setting.steps));
  page.html.paragraph(
      "All norms have the same rates, seeds and initial weights; a seed's rate is the best of the other "
      "seeds. BatchNorm takes its statistics over documents and positions, so a model in training sees a "
      "little of later characters; it is judged with running statistics. DyT's alpha starts at 0.5.");
  std::string sentence;
  std::vector<kit::Table> tables;
  for (const Stack& stack : setting.stacks) {
    kit::Table& table = tables.emplace_back(kit::Table{
        .caption = stack.title + ": final loss at the chosen rate, largest rate that learns",
        .header = {"Norm", "Final loss (nats)", "Chosen rate", "Largest rate that learns (seeds)"}});
    for (const Kind& kind : kinds()) {
      const Search search = setting.search(stack, kind.name);
      const Found found = best_of(results, search);
      table.rows.push_back(
          {kind.title, mean_and_range(found.values), chosen_rates(found), describe_largest(results, search)});
    }
    const auto order = ranked(
        kinds(), [&](const Kind& kind) { return best_of(results, setting.search(stack, kind.name)).values; });
    if (order.size() > 1)
      sentence += fmt::format(" Lowest with {}: {}, {:.3f} nats below {}.", stack.title, order[0].second,
                              order[1].first - order[0].first, order[1].second);
  }
  page.figure(
      "rates", rate_panels(results, setting),
      fmt::format("Lines are means over seeds; bands and bars range from the lowest to the highest of "
                  "{}. The horizontal lines are the n-gram loss, below which a run has learned, and "
                  "the entropy; losses above 2.6 are drawn at 2.6.{}",
                  count_seeds(setting.seeds.size()), sentence));
  for (const kit::Table& table : tables) page.html.table(table);
}

/// Six overlapping bands are not readable: the tables have the ranges.
std::vector<kit::Series> bare(std::vector<kit::Series> lines) {
  for (kit::Series& line : lines) line.markers = false;
  return without_bands(std::move(lines));
}

void add_shift(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Internal covariate shift");
  page.html.paragraph(fmt::format(
      "Pre-LN models of 6 layers, all at the rate {}, are measured every 20 steps on 64 documents that are "
      "not trained on. **Inputs**: how far one update moves the means and standard deviations of each FFN's "
      "input, relative to its standard deviation. **Gradients**: the relative change of a block's gradient "
      "when the blocks below make their update and it does not (Santurkar et al. 2018, definition 2.1). Both "
      "are means over layers of log10.",
      kit::number_text(kShiftRate)));
  const std::vector<double> steps =
      ends_of_slices(setting.steps, static_cast<std::size_t>(setting.steps / 20));
  const std::vector<Titled> measured = {{"inputs", "Inputs of the FFNs"},
                                        {"gradients", "Gradients of the blocks"}};
  const kit::Panels moved = panels("Change by one update", measured, [&](const Titled& what) {
    const auto curves = [&](const Kind& kind) {
      return shift_runs(results, kind.name).curves(what.name + "_by_step");
    };
    return kit::LineChart{.title = what.title,
                          .x_label = "step",
                          .y_label = "log10 of the relative change",
                          .series = bare(lines_of_curves(setting.looked_into, curves, steps))};
  });
  const auto steadiest = [&](const char* number) {
    const auto order = ranked(setting.looked_into, [&](const Kind& kind) {
      return shift_runs(results, kind.name).numbers(number);
    });
    return order.empty() ? "none yet" : order.front().second;
  };
  page.figure(
      "shift", moved,
      fmt::format("Lines are means over {}. Inputs are steadiest with {}. The loss is lowest with {}.",
                  count_seeds(setting.seeds.size()), steadiest("inputs"), steadiest("loss")));
  const std::vector<Titled> columns = {
      {"inputs", "Inputs"}, {"gradients", "Gradients"}, {"loss", "Final loss (nats)"}};
  page.html.table(
      cross_table("Mean over the training: log10 of the relative change; final loss of these runs", "Norm",
                  setting.looked_into, columns, [&](const Kind& kind, const Titled& column) {
                    return mean_and_range(shift_runs(results, kind.name).numbers(column.name));
                  }));
}

// Larger and smaller gradients are drawn at the edge, so that the panels can share their axes.
constexpr double kEdge = 6;

void add_starts(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Gradients of deep stacks");
  page.html.paragraph(
      fmt::format("Stacks of {} layers before the first step, in f64: |dL/dx_l| of each block's output, "
                  "where the loss is a mean over 8 documents. Matrices are N(0, 1/fan_in), or twice that; "
                  "norm(f(x)) has no shortcut, and without its norm it is f(x).",
                  kStartLayers));
  const kit::Panels gradients = panels("Gradient along the stack", starts(), [&](const Start& start) {
    const auto curves = [&](const Kind& kind) {
      auto all = start_runs(results, start.name, kind.name).curves("gradient");
      for (std::vector<double>& curve : all)
        for (double& value : curve) value = std::clamp(value, -kEdge, kEdge);
      return all;
    };
    return kit::LineChart{.title = start.title,
                          .x_label = "block",
                          .y_label = "log10 |dL/dx|",
                          .series = bare(lines_of_curves(setting.looked_into, curves,
                                                         thinned_steps(kStartLayers, kStartPoints)))};
  });
  page.figure(
      "gradients", gradients,
      fmt::format(
          "Lines are means over {}. A level line means a gradient that neither explodes nor vanishes; above "
          "10^6 and below 10^-6 it is drawn at the edge, and the table in the report has the values.",
          count_seeds(setting.start_seeds.size())));
  page.html.table(cross_table("Decades between the largest and the smallest gradient", "Stack", starts(),
                              setting.looked_into, [&](const Start& start, const Kind& kind) {
                                return mean_and_range(
                                    start_runs(results, start.name, kind.name).numbers("spread"));
                              }));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  add_rates(page, results, setting);
  add_shift(page, results, setting);
  add_starts(page, results, setting);
  page.limits(
      {"Other widths: with 16 channels a norm's statistics are of 16 numbers, and the mean that RMSNorm "
       "leaves out is a larger part of a token than in a wide model.",
       "DyT as its authors tune it: with an alpha for each place, larger for attention, and wider models.",
       "Scaled initial weights for the stacks without a norm; see the study of initial weights.",
       "Speed: RMSNorm is a little less work than LayerNorm, which matters where it reaches the same loss."});
}

}  // namespace gradus::lab::norms
