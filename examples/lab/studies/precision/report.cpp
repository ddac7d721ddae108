#include <fmt/format.h>

#include "lab/statistics/format.h"
#include "lab/studies/precision/precision.h"

namespace gradus::lab::precision {

namespace {

constexpr double kTop = 2.6;  // higher losses are drawn here

/// The arms that have runs in a mode.
std::vector<Arm> arms_of(const std::string& mode) {
  std::vector<Arm> some = arms();
  if (mode != "f32" && mode != "bf16") some.resize(2);
  return some;
}

kit::Panels rate_panels(const StudyResults& results, const Setting& setting) {
  return panels("Final loss against learning rate", arms(), [&](const Arm& arm) {
    const auto losses = [&](const Mode& mode, double rate) {
      std::vector<double> all = finite(at_rate(results, setting.search(arm.name, mode.name), rate));
      for (double& loss : all) loss = std::min(loss, kTop);
      return all;
    };
    return kit::LineChart{.title = arm.title,
                          .x_label = "learning rate",
                          .y_label = "final loss (nats per character)",
                          .x_axis = kit::AxisKind::log,
                          .y_low = 0.6,
                          .y_high = kTop,
                          .x_ticks = setting.rates,
                          .series = without_bands(lines(modes(), setting.rates, losses)),
                          .references = {{.at = tiny_baseline()}, {.at = *tiny_task().entropy()}}};
  });
}

void add_placements(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Placements");
  page.html.paragraph(describe_tiny(setting.steps));
  page.html.paragraph(
      "**Products in bf16** means that the operands of all matrix products are rounded to bf16 and their "
      "sums are f32, in forward and backward; weights, gradients and Adam's averages stay f32. The other "
      "modes also round every number of one part to bf16, forward and backward: norms, the stream after each "
      "addition, or the softmax of attention.");
  page.figure(
      "rates", rate_panels(results, setting),
      fmt::format("Lines are means over {}; losses above 2.6 are drawn at 2.6. The horizontal lines are "
                  "the n-gram loss, below which a run has learned, and the entropy.",
                  count_seeds(setting.seeds.size())));
  const auto add = [&](const char* caption, const auto& cell) {
    kit::Table table{.caption = caption, .header = {"Placement"}};
    for (const Mode& mode : modes()) table.header.push_back(mode.title);
    for (const Arm& arm : arms()) {
      table.rows.push_back({arm.title});
      for (const Mode& mode : modes()) {
        const std::vector<Arm> some = arms_of(mode.name);
        const bool runs =
            std::any_of(some.begin(), some.end(), [&](const Arm& one) { return one.name == arm.name; });
        table.rows.back().push_back(runs ? cell(setting.search(arm.name, mode.name)) : "\u2013");
      }
    }
    page.html.table(table);
  };
  add("Final loss at the best rate of the other seeds (nats): mean, lowest and highest seed",
      [&](const Search& search) { return mean_and_range(finite(best_of(results, search).values)); });
  add("Share of rates at which a run fails: mean, lowest and highest seed",
      [&](const Search& search) { return mean_and_range(finite(failed_share(results, search)), 2); });
  add("log10 of the largest number in the trained model, at the best rate",
      [&](const Search& search) { return mean_and_range(finite(at_best(results, search, "largest")), 2); });
}

void add_stream(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("The stream's last bit");
  page.html.paragraph(
      "In bf16 a number has 8 bits, so what a branch adds is lost where it is smaller than 1/512 to 1/256 of "
      "what the stream holds in that place. The table counts such additions in the last connection of "
      "trained Pre-LN stacks.");
  page.html.table(cross_table(
      "Share of additions that change nothing, and loss with the stream in bf16 minus f32 (nats)", "Depth",
      setting.depths, std::vector<Titled>{{"vanished", "Lost additions"}, {"loss", "Loss"}},
      [&](std::int64_t layers, const Titled& column) {
        const Search stream = setting.search("pre", "stream", layers);
        return column.name == "loss"
                   ? mean_and_range(
                         finite(loss_between(results, stream, setting.search("pre", "bf16", layers))), 4)
                   : mean_and_range(finite(at_best(results, stream, "vanished")), 4);
      }));
}

void add_models(Page& page, const StudyResults& results) {
  page.html.heading("Whole models");
  page.html.paragraph(
      "The settings of three programs of the repository, 64 channels and 400 steps, on made-up languages: "
      "the lab's recall language, and sentences whose translation reverses the order of the words.");
  const std::vector<Titled> columns = {{"f32", "f32"}, {"bf16", "products in bf16"}};
  page.html.table(cross_table(
      "Final loss (nats per token)", "Model", models(), columns,
      [&](const Titled& model, const Titled& column) {
        return mean_and_range(model_runs(results, model.name, column.name == "bf16").numbers("loss"), 4);
      }));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  add_placements(page, results, setting);
  add_stream(page, results, setting);
  if (setting.models) add_models(page, results);
  page.limits(
      {"Wide and deep models trained for long, whose activations have outliers: with 16 channels a sum has "
       "few "
       "terms, and errors have few steps to add up.",
       "Weights, gradients and optimizer in bf16: they are f32 here. Chapter 13 of the course shows what "
       "becomes of updates of weights in bf16.",
       "f16, whose range a gradient can leave.",
       "Sums in bf16: all sums are f32, as the instructions of CPUs have it."});
}

}  // namespace gradus::lab::precision
