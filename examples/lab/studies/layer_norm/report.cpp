// The page of the study of layer norm.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/studies/charts.h"
#include "lab/studies/layer_norm/parts.h"

namespace gradus::lab::layer_norm_parts {

namespace {

std::vector<double> values_of(const StudyResults& results, const std::string& number) {
  return tokens_of(results).numbers(number);
}

double worst_of(const StudyResults& results, const std::string& number) {
  const std::vector<double> values = values_of(results, number);
  return values.empty() ? kit::nothing : *std::max_element(values.begin(), values.end());
}
std::string format_worst(const StudyResults& results, const std::string& number) {
  return kit::number_text(worst_of(results, number), 3);
}

kit::Series points(const StudyResults& results, const std::string& what, int style) {
  const std::string run = plane_run(results.options);
  return {.name = what == "token"    ? "tokens"
                  : what == "normed" ? "LN, gain 1, bias 0"
                                     : "with " + what,
          .x = results.series(run, what + ".x"),
          .y = results.series(run, what + ".y"),
          .line = false,
          .every_marker = true,
          .style = style};
}

kit::Series circle() {
  kit::Series line{.name = "radius √3", .markers = false, .style = 3};
  for (int i = 0; i <= 72; ++i) {
    const double angle = i * std::acos(-1.0) / 36;
    line.x.push_back(std::sqrt(3.0) * std::cos(angle));
    line.y.push_back(std::sqrt(3.0) * std::sin(angle));
  }
  return line;
}

// A panel is 175 wide and 120 high: with these limits a unit is as long to the right as it is upwards.
constexpr double kHalfHeight = 5;

void add_plane(Page& page, const StudyResults& results) {
  if (!results.has(plane_run(results.options))) return;
  const auto panel = [&](const std::string& title, const std::string& what, int style) {
    return kit::LineChart{.title = title,
                          .x_label = "along (1, −1, 0)",
                          .y_label = "along (1, 1, −2)",
                          .x_low = -kHalfHeight * 175 / 120,
                          .x_high = kHalfHeight * 175 / 120,
                          .y_low = -kHalfHeight,
                          .y_high = kHalfHeight,
                          .series = {points(results, what, style), circle()}};
  };
  page.figure(
      "plane",
      kit::Panels{.title = "Tokens of three channels, seen along (1, 1, 1)",
                  .panels = {panel("Tokens", "token", 0), panel("LN(x)", "normed", 4),
                             panel("with a gain", "gain", 1), panel("with a bias", "bias", 2)}},
      fmt::format("{} random tokens. Whatever their mean and length, layer norm puts them on one circle of "
                  "radius √3 around the origin, in the plane where the channels add up to 0; a gain of (1.6, "
                  "0.7, 0.4) turns the circle into an ellipse, and a bias of (1.5, −1.5, 0) shifts it.",
                  kPlanePoints));
}

void add_sphere(Page& page, const StudyResults& results) {
  const std::vector<std::vector<double>> curves = tokens_of(results).curves("radius");
  if (curves.empty()) return;
  const std::vector<double> widths = {2, 4, 8, 16, 32, 64, 128, 256, 512};
  kit::Series root{.name = "√d", .x = widths, .markers = false, .style = 3};
  for (const double d : widths) root.y.push_back(std::sqrt(d));
  page.figure("radius",
              kit::LineChart{.title = "Length of a normalized token",
                             .x_label = "channels d",
                             .y_label = "|LN(x)|",
                             .x_axis = kit::AxisKind::log,
                             .y_axis = kit::AxisKind::log,
                             .x_ticks = widths,
                             .series = {band_of_curves("measured", curves, 0, widths), root},
                             .references = {{.at = 1, .label = "unit sphere"}}},
              "The length is the square root of the number of channels. " + describe_bands(curves.size()));
  page.html.paragraph(
      fmt::format("With a random gain g and bias b in 64 channels, tokens lie on the ellipsoid Σ((yᵢ − "
                  "bᵢ)/gᵢ)² = d: the sum differs from d by at most {} of d in {} tokens per seed.",
                  format_worst(results, "ellipsoid"), 256));
  page.html.paragraph(
      fmt::format("The mean that is subtracted makes an angle with the token whose cosine is {} here (mean "
                  "1, standard deviation 2), and with the centred token {}: the mean lies along (1, ..., 1), "
                  "not along the token. The division by σ removes the radius.",
                  mean_and_range(values_of(results, "mean-token-cosine")),
                  "at most " + format_worst(results, "mean-radial-cosine")));
}

void add_eps(Page& page, const StudyResults& results) {
  if (!results.has(plane_run(results.options))) return;
  const std::string run = plane_run(results.options);
  const std::vector<double> sigma = results.series(run, "sigma");
  page.figure(
      "eps",
      kit::LineChart{.title = "Remaining size of a token, eps = 1e-5",
                     .x_label = "σ of the token",
                     .y_label = "|LN(x)| / √d",
                     .x_axis = kit::AxisKind::log,
                     .series = {{.name = "√(σ² + eps), the library",
                                 .x = sigma,
                                 .y = results.series(run, "shrink.inside"),
                                 .style = 0},
                                {.name = "σ + eps, as printed",
                                 .x = sigma,
                                 .y = results.series(run, "shrink.outside"),
                                 .style = 1}}},
      fmt::format("Inside the root, eps begins to matter at a σ of about √eps = 0.003; outside it, at "
                  "0.00001. The two differ by {} at σ = 1, by {} at 0.01 and by {} at 0.001.",
                  mean_and_range(values_of(results, "eps-outside.1"), 2),
                  mean_and_range(values_of(results, "eps-outside.0.01"), 2),
                  mean_and_range(values_of(results, "eps-outside.0.001"), 2)));
}

void add_batches(Page& page, const StudyResults& results) {
  const std::vector<std::vector<double>> curves = tokens_of(results).curves("bn.by-batch");
  if (curves.empty()) return;
  const std::vector<double> sizes = {2, 4, 8, 16, 32, 64, 128, 256};
  const std::vector<double> refused = values_of(results, "bn.one");
  const double layer = std::max(worst_of(results, "ln.mode"), worst_of(results, "ln.batch"));
  page.figure(
      "batches",
      kit::LineChart{.title = "Training against inference",
                     .x_label = "tokens in the batch",
                     .y_label = "relative difference of the output",
                     .x_axis = kit::AxisKind::log,
                     .y_low = 0,
                     .x_ticks = sizes,
                     .series = {band_of_curves("batch norm", curves, 1, sizes),
                                {.name = "layer norm",
                                 .x = sizes,
                                 .y = std::vector<double>(sizes.size(), layer),
                                 .style = 0}}},
      "Batch norm's output in training, with the batch's statistics, against its output in inference, with "
      "running statistics over 300 batches of 8 tokens. Layer norm's output is the same in both. " +
          describe_bands(curves.size()));
  page.html.table(
      {.caption = "A token of 16 channels",
       .header = {"", "layer norm, largest difference", "batch norm, relative difference"},
       .rows = {{"training against inference", format_worst(results, "ln.mode"),
                 mean_and_range(values_of(results, "bn.mode"))},
                {"in a small batch against in a batch of 32", format_worst(results, "ln.batch") + " (alone)",
                 mean_and_range(values_of(results, "bn.batch")) + " (4 tokens)"},
                {"token by token against all at once (logits of a GPT)",
                 format_worst(results, "ln.generation"), "–"},
                {"one token alone in training", "works",
                 fmt::format("refused on {} of {} seeds", std::count(refused.begin(), refused.end(), 1.0),
                             refused.size())}}});
  page.html.table(
      {.caption = "Axes of the statistics of x [N, C, H, W]",
       .header = {"norm", "axes", "values in each mean", "an image depends on the others"},
       .rows = {{"batch norm", "N, H, W", "N·H·W, for each channel", "yes, in training"},
                {"group norm", "channels of a group, H, W", "C/G·H·W, for each image", "no"},
                {"layer norm, as group norm of one group", "C, H, W", "C·H·W, for each image", "no"},
                {"layer norm of a Transformer, x [N, T, C]", "C", "C, for each token", "no"}}});
  page.html.paragraph(
      fmt::format("Group norm and batch norm of the same images differ by {}; when the other images of the "
                  "batch change, batch norm's output for the first one changes by {} more than group norm's.",
                  mean_and_range(values_of(results, "group-batch")),
                  mean_and_range(values_of(results, "group-batch-others"))));
}

void add_thrice(Page& page, const StudyResults& results) {
  const std::vector<double> times = values_of(results, "thrice.time");
  if (times.empty()) return;
  page.html.paragraph(fmt::format(
      "Writing norm1(x) three times, for queries, keys and values of x [8, 32, 64], changes the output by at "
      "most {} and dL/dx by at most {} of its largest element. The norms take {} times as long, the norm and "
      "attention together {} times (medians of 25 alternating calls; mean and range over {} seeds).",
      format_worst(results, "thrice.output"), format_worst(results, "thrice.gradient"),
      mean_and_range(times, 2), mean_and_range(values_of(results, "thrice.time-attention"), 3),
      times.size()));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  page.html.paragraph(
      "Everything here is measured on random tokens with the library's own modules: there is no training, so "
      "these are facts about formulas, and seeds differ only in the tokens.");
  page.html.heading("A sphere of radius √d");
  add_plane(page, results);
  add_sphere(page, results);
  page.html.heading("The place of eps");
  add_eps(page, results);
  page.html.heading("Dependence on the rest of the batch");
  add_batches(page, results);
  page.html.heading("One norm for queries, keys and values");
  add_thrice(page, results);
  page.limits(
      {"Effects on training: wrong Jacobians are trained in the study jacobians, other norms in the study "
       "norms.",
       "Other machines and large tensors: where memory is the limit, three norms may cost more than three "
       "times as much as one."});
}

}  // namespace gradus::lab::layer_norm_parts
