#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/slope.h"
#include "lab/studies/start/report.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

using Values = std::vector<double>;

const Values kBlockTicks = {1, 8, 16, 24, 32};
const Values kBlocks = [] {
  Values blocks;
  for (std::int64_t l = 1; l <= kDepth; ++l) blocks.push_back(static_cast<double>(l));
  return blocks;
}();

std::string geometric_bands(const StudyResults& results) {
  return fmt::format("Lines are geometric means over {}; bands range from the lowest to the highest.",
                     count_seeds(seeds_of(results.options).size()));
}

/// A formula's value for each block.
template <class Formula>
kit::Series formula_line(const char* name, int style, const Formula& formula) {
  kit::Series line{.name = name, .x = kBlocks, .markers = false, .style = style};
  for (const double l : kBlocks) line.y.push_back(formula(l));
  return line;
}

/// The exponent of L with theorem 1's own loss.
std::string describe_tops(const StudyResults& results) {
  std::vector<std::string> words;
  for (const Titled& placement : kPlacements) {
    Values tops;
    for (const std::int64_t layers : depths_of(results.options))
      tops.push_back(geometric_mean(stacks_of(results, placement.name, "xiong", layers).numbers("mean.top")));
    if (finite(tops).size() != tops.size()) return "";
    const double slope = log_slope(as_doubles(depths_of(results.options)), tops);
    words.push_back(fmt::format("{} in {}", kit::number_text(slope, 2), placement.title));
  }
  return fmt::format("With the mean over the 8 positions the exponent of L is {}. ", listed(words));
}

/// "grows by 1.3 from 16 to 32 blocks"
std::string describe_sizes(const StudyResults& results) {
  const auto size = [&](const char* placement, const char* number) {
    return mean(finite(stacks_of(results, placement, "xiong").numbers(number)));
  };
  const double half = size("pre", "size.half");
  const double last = size("pre", "size.last");
  const double post = size("post", "size.last");
  if (!std::isfinite(half) || !std::isfinite(last)) return "";
  return fmt::format(
      "In Pre-LN |x|²/d is {} after block 16 and {} after block 32: the second half adds {} the first, as {} "
      "growth would. In Post-LN it is {} before the last norm. ",
      kit::number_text(half, 3), kit::number_text(last, 3),
      last - half < 2 * half ? "about as much as" : "more than twice as much as",
      last - half < 2 * half ? "linear" : "faster than linear", kit::number_text(post, 3));
}

}  // namespace

void add_signal(Page& page, const StudyResults& results) {
  page.html.heading("Signal");
  const std::string bands = describe_bands(seeds_of(results.options).size());
  const Titled streams[] = {{"pre", "Pre-LN"}, {"post", "Post-LN, before its norm"}};
  kit::LineChart sizes{.title = "Mean |x|²/d after each block, Xiong et al.'s weights",
                       .x_label = "block",
                       .y_label = "|x|²/d (log scale)",
                       .y_axis = kit::AxisKind::log,
                       .x_ticks = kBlockTicks,
                       .series = lines_of_curves(streams, [&](const Titled& stream) {
                         return stacks_of(results, stream.name, "xiong").curves("sizes");
                       })};
  if (!sizes.series.empty()) {
    sizes.series.push_back(formula_line("1 + l/2", 2, [](double l) { return 1 + 0.5 * l; }));
    sizes.series.push_back(formula_line("1 + 3l/2", 3, [](double l) { return 1 + 1.5 * l; }));
    page.figure("start-sizes", sizes,
                describe_sizes(results) +
                    "Lemma 2's bounds for Pre-LN are 1 + l/2 and 1 + 3l/2. Exponential growth would be a "
                    "straight line. " +
                    bands);
  }
  const std::vector<std::string> schemes = {"fan_in", "gpt2"};
  page.figure(
      "start-cosines",
      panels("Cosine between the stream and the input", schemes,
             [&](const std::string& scheme) {
               return kit::LineChart{.title = weight_scheme(scheme).title,
                                     .x_label = "block",
                                     .y_label = "cosine",
                                     .x_ticks = kBlockTicks,
                                     .series = lines_of_curves(kPlacements, [&](const Titled& placement) {
                                       return stacks_of(results, placement.name, scheme).curves("cosines");
                                     })};
             }),
      "1 means that the input passes unaltered, 0 that nothing of its direction is left. With small "
      "weights the input changes little in either placement, because the branches have little effect. " +
          bands);
}

void add_gradients(Page& page, const StudyResults& results) {
  page.html.heading("Gradient");
  const std::vector<std::int64_t> depths = depths_of(results.options);
  const auto tops = [&](const Titled& placement, std::int64_t layers) {
    return stacks_of(results, placement.name, "xiong", layers).numbers("top");
  };
  page.figure("start-top",
              kit::LineChart{.title = "|dL/dW2| of the last block, Xiong et al.'s weights",
                             .x_label = "layers (log scale)",
                             .y_label = "norm (log scale)",
                             .x_axis = kit::AxisKind::log,
                             .y_axis = kit::AxisKind::log,
                             .x_ticks = as_doubles(depths),
                             .series = lines(kPlacements, depths, tops, kit::Spread::band, geometric_mean)},
              "The loss is taken at one position, while Theorem 1 is about a mean over positions. Its bound "
              "for Post-LN does not depend on depth; that for Pre-LN falls like 1/√L, half a decade per "
              "decade. " +
                  describe_tops(results) + geometric_bands(results));
  const auto chart = [&](const std::string& scheme) {
    const auto curves = [&](const Titled& placement) {
      return stacks_of(results, placement.name, scheme).curves("gradients");
    };
    kit::LineChart one{.title = weight_scheme(scheme).title,
                       .x_label = "block",
                       .y_label = "over the last (log scale)",
                       .y_axis = kit::AxisKind::log,
                       .x_ticks = kBlockTicks,
                       .series = lines_of_curves(kPlacements, curves, {}, geometric_mean)};
    if (!one.series.empty())
      one.series.push_back(formula_line("(2/3)^((L−l)/2)", 2, [](double l) {
        return std::pow(2.0 / 3, (static_cast<double>(kDepth) - l) / 2);
      }));
    return one;
  };
  page.figure("start-gradients",
              panels("|dL/dW2| by block over that of the last of 32 blocks", kSchemes, chart),
              describe_vanishing(results) + " " + geometric_bands(results));
  kit::Table table{
      .caption = "Largest over smallest |dL/dW| of 32 layers, by kind of matrix: mean of the seeds' ratios",
      .header = {"initial weights", "placement", "in_proj", "out_proj", "linear1", "linear2"}};
  for (const char* scheme : kSchemes)
    for (const Titled& placement : kPlacements) {
      table.rows.push_back({weight_scheme(scheme).title, placement.title});
      for (const char* matrix : kMatrices) {
        Values ratios = stacks_of(results, placement.name, scheme).numbers(fmt::format("spread.{}", matrix));
        for (double& ratio : ratios) ratio = std::exp(ratio);
        table.rows.back().push_back(mean_and_range(ratios));
      }
    }
  page.html.paragraph(describe_spreads(results));
  page.html.table(table);
}

void add_shortcuts(Page& page, const StudyResults& results) {
  page.html.heading("Shortcuts");
  const Titled placements[] = {{"pre", "Pre-LN"}, {"post", "Post-LN"}, {"none", title_of("none")}};
  const Titled shortcuts[] = {{"", "with shortcuts"}, {"-cut", "without shortcuts"}};
  const auto chart = [&](const Titled& shortcut) {
    const auto ratios = [&](const Titled& placement, std::int64_t layers) {
      return stacks_of(results, placement.name + shortcut.name, "fan_in", layers).numbers("activation");
    };
    return kit::LineChart{
        .title = shortcut.title,
        .x_label = "layers (log scale)",
        .y_label = "bottom over top (log scale)",
        .x_axis = kit::AxisKind::log,
        .y_axis = kit::AxisKind::log,
        .x_ticks = {2, 8, kDepth, 192},
        .series = lines(placements, depths_of(results.options), ratios, kit::Spread::band, geometric_mean)};
  };
  page.figure("start-shortcuts",
              panels("|dL/dx₀| over |dL/dx_L| against depth, weights N(0, 1/fan_in)", shortcuts, chart),
              describe_shortcuts(results) +
                  "Where a line falls, gradients vanish on their way down; where it rises, they explode. "
                  "Without norms some values overflow; these are left out. " +
                  geometric_bands(results));
}

void add_training(Page& page, const StudyResults& results) {
  page.html.heading("The first steps of training");
  page.html.paragraph(fmt::format(
      "GPTs of {} layers and 32 channels learn the recall language with Adam at 0.001, 100 steps of warm-up "
      "and 16 windows per batch; they are measured on 8 fixed windows. After {} steps:",
      kTrainedLayers, kEarly));
  const Titled rows[] = {{"share", "|dL/dW2|, first block over last"},
                         {"spread", "ln of largest over smallest |dL/dW|, mean of four kinds"},
                         {"size.first", "mean |x|²/d after block 1"},
                         {"size.half", "after block 6"},
                         {"size.last", "after block 12"},
                         {"loss", "validation loss at the end of the run (nats)"}};
  page.html.table(cross_table(fmt::format("After {} steps: mean (lowest to highest seed)", kEarly), "", rows,
                              kPlacements, [&](const Titled& row, const Titled& placement) {
                                return mean_and_range(trained_of(results, placement.name).numbers(row.name));
                              }));
  Values steps = {1};
  for (int i = 1; i <= kLater / 10; ++i) steps.push_back(10.0 * i);
  const Titled streams[] = {
      {"streams", "stream, last block"}, {"branches", "branches"}, {"outputs", "logits"}};
  const auto chart = [&](const Titled& stream) {
    const auto curves = [&](const Titled& placement) {
      return trained_of(results, placement.name).curves(stream.name);
    };
    return kit::LineChart{.title = stream.title,
                          .x_label = "step",
                          .y_label = "root mean square",
                          .y_low = 0,
                          .series = lines_of_curves(kPlacements, curves, steps)};
  };
  page.figure("start-training", panels("Root mean squares during training", streams, chart),
              describe_training(results) + describe_bands(trained_seeds_of(results.options).size()));
}

}  // namespace gradus::lab::start
