#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/update_size/stable.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/training/trial.h"

namespace gradus::lab::update_size {

namespace {

using Values = std::vector<double>;

const Titled kArms[] = {{"pre", "Pre-LN"},
                        {"post", "Post-LN"},
                        {"slower", "Post-LN, lower rate"},
                        {"held", "Post-LN, updates held"}};

/// A number against depth, on logarithmic axes.
kit::LineChart depth_chart(const StudyResults& results, const std::string& title, const std::string& number,
                           const std::string& y_label) {
  const std::vector<std::int64_t> depths = depths_of(results.options);
  const auto values = [&](const char* placement, std::int64_t layers) {
    return sizes_of(results, placement, layers).numbers(number);
  };
  return {.title = title,
          .x_label = "layers",
          .y_label = y_label,
          .x_axis = kit::AxisKind::log,
          .y_axis = kit::AxisKind::log,
          .x_ticks = as_doubles(depths),
          .series = lines(kPlacements, depths, values, kit::Spread::band)};
}

Values slopes(const StudyResults& results, const char* placement, const char* number) {
  return finite(growth(results, placement, number));
}

std::string describe_growth(const StudyResults& results) {
  const Values pre = slopes(results, "Pre-LN", "update.1"), post = slopes(results, "Post-LN", "update.1"),
               deep = slopes(results, "DeepNorm", "update.1");
  if (pre.empty() || post.empty() || deep.empty()) return "Not all depths are done.";
  const double difference = mean(post) - mean(pre);
  return fmt::format(
      "The change of the output after one update scales with depth as L to the power {} in Post-LN, {} in "
      "Pre-LN and {} in DeepNorm. It grows {}. DeepNet derives an exponent of 0 for DeepNorm with gradient "
      "descent; with Adam {}.",
      mean_and_range(post), mean_and_range(pre), mean_and_range(deep),
      difference > 0.1    ? "faster in Post-LN than in Pre-LN"
      : difference < -0.1 ? "faster in Pre-LN than in Post-LN"
                          : "about equally fast in Pre-LN and Post-LN",
      mean(deep) > 0.2 ? "the change grows" : "the change does not grow");
}

std::string describe_gradients(const StudyResults& results) {
  const Values post = slopes(results, "Post-LN", "gradient"), pre = slopes(results, "Pre-LN", "gradient");
  if (post.empty() || pre.empty()) return "";
  const double slope = mean(post);
  return fmt::format(
      "Post-LN's first gradient scales as L to the power {}, Pre-LN's as L to the power {}: {}. ",
      mean_and_range(post), mean_and_range(pre),
      slope > 0.2 ? "gradients grow with depth too, so the start alone does not separate the two explanations"
      : slope < -0.2 ? "gradients fall with depth, while updates do not have to"
                     : "gradients hardly change with depth");
}

void add_sizes(Page& page, const StudyResults& results) {
  page.html.heading("How far one update moves the output");
  page.html.paragraph(fmt::format(
      "|F(x, w′) − F(x, w)| is the root mean square over the logits of one batch, where w′ are the weights "
      "after updates of Adam at rate {} without warm-up. Models have 64 channels and 4 heads and read the "
      "recall language, 4 windows per batch; matrices start at N(0, 1/fan_in), except for those a placement "
      "sets itself (DeepNorm its matrices, Admin its shortcuts). The rate is small so that outputs move by "
      "less than their own size, which is about 1: a norm does not let them move further.",
      kit::number_text(kRate)));
  const std::string bands = describe_bands(seeds_of(results.options).size());
  const Titled updates[] = {{"update.1", "after 1 update"}, {"update.16", "after 16"}};
  page.figure("updates-by-depth",
              panels("Change of the logits (root mean square) against depth", updates,
                     [&](const Titled& update) {
                       return depth_chart(results, update.title, update.name, "change of logits");
                     }),
              fmt::format("Adam at rate 0.000001, a rate so small that no norm limits the change. {} {}",
                          describe_growth(results), bands));
  page.figure("gradients-by-depth",
              depth_chart(results, "Norm of the whole gradient at the start", "gradient", "|dL/dw|"),
              describe_gradients(results) + bands);
  const Titled columns[] = {{"update.1", "after 1 update"},
                            {"update.16", "after 16"},
                            {"sgd", "one step of SGD"},
                            {"gradient", "gradient norm"}};
  page.html.table(
      cross_table("Exponent p in L^p, fitted over the depths, one fit per seed: mean (lowest to highest)",
                  "placement", kPlacements, columns, [&](const char* placement, const Titled& column) {
                    return mean_and_range(growth(results, placement, column.name));
                  }));
}

kit::LineChart curve_chart(const StudyResults& results, const std::string& title, const std::string& series,
                           const std::string& label) {
  const auto curves = [&](const Titled& arm) { return trained_of(results).curves(series + arm.name); };
  return {.title = title,
          .x_label = "step",
          .y_label = label,
          .series = lines_of_curves(kArms, curves, thinned_steps(kTrainedSteps, 40))};
}

std::string count_learned(const StudyResults& results, const std::string& arm) {
  const Values learned = trained_of(results).numbers(fmt::format("learned.{}", arm));
  return fmt::format("{} of {}", std::count(learned.begin(), learned.end(), 1.0),
                     count_seeds(learned.size()));
}

/// The gain over unchanged Post-LN.
std::string describe_gain(const StudyResults& results, const std::string& arm, const std::string& what) {
  const Values gains = paired_difference(trained_of(results).numbers("loss.post"),
                                         trained_of(results).numbers(fmt::format("loss.{}", arm)));
  const Spread spread = spread_of(gains);
  const char* did = spread.low > 0.1    ? "trains better on every seed"
                    : spread.high < 0.1 ? "trains better on no seed"
                    : spread.mean > 0.1 ? "trains better on some seeds"
                                        : "trains better on few seeds";
  return fmt::format("**{}**, Post-LN {}: its loss is lower by {} nats; {} learned.", what, did,
                     mean_and_range(gains), count_learned(results, arm));
}

std::string describe_training() {
  return fmt::format("{} layers, Adam at rate {}. ", kTrainedLayers, kit::number_text(kTrainedRate));
}

void add_held_charts(Page& page, const StudyResults& results) {
  const std::string bands = describe_bands(trained_of(results).numbers("loss.pre").size());
  kit::LineChart losses = curve_chart(results, "Training loss", "losses.", "nats per character");
  page.figure(
      "held-losses", losses,
      fmt::format("{}With updates held down, {} learned; with unchanged updates, {}. {}", describe_training(),
                  count_learned(results, "held"), count_learned(results, "post"), bands));
  kit::LineChart updates =
      curve_chart(results, "Change of the logits at each step", "updates.", "root mean square");
  updates.y_axis = kit::AxisKind::log;
  const Values most = trained_of(results).numbers("held.most"),
               first = trained_of(results).numbers("larger.first");
  page.figure(
      "held-updates", updates,
      fmt::format(
          "{}Post-LN's first update moves the logits {:.2f} times as far as Pre-LN's (geometric mean). "
          "Updates that are held down move the logits at most {} times as far as Pre-LN's at that step. {}",
          describe_training(), std::pow(10.0, mean(first)), kit::number_text(spread_of(most).high, 3),
          bands));
}

void add_training(Page& page, const StudyResults& results) {
  if (trained_of(results).numbers("loss.pre").empty()) return;
  page.html.heading("Holding updates");
  page.html.paragraph(fmt::format(
      "The same batches train four models of {} layers for {} steps of Adam at {} without warm-up: Pre-LN; "
      "Post-LN; Post-LN at the lower rate {}; Post-LN with each update scaled down where it would move the "
      "batch's logits further than Pre-LN's own update at that step. A run has learned when its loss ends "
      "below {} nats, the best that counting the last characters gives; Pre-LN did on {}, Post-LN on {}.",
      kTrainedLayers, kTrainedSteps, kit::number_text(kTrainedRate), kit::number_text(kSlowRate),
      nats(recall_task().ngram().loss), count_learned(results, "pre"), count_learned(results, "post")));
  page.html.list({describe_gain(results, "held", "With updates held to Pre-LN's"),
                  describe_gain(results, "slower", "At the lower rate")});
  add_held_charts(page, results);
  kit::Table table{.caption = "Validation loss at the end (nats) and runs that learned",
                   .header = {"model", "loss: mean (lowest to highest)", "learned"}};
  for (const Titled& arm : kArms)
    table.rows.push_back({arm.title, mean_and_range(trained_of(results).numbers("loss." + arm.name)),
                          count_learned(results, arm.name)});
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_sizes(page, results);
  add_training(page, results);
  report_stable(page, results);
  page.limits({
      "The papers' bounds are upper bounds of an expectation: a slope below them contradicts nothing.",
      "Adam's first update has the size of the rate in every weight, whatever the gradient; with gradient "
      "descent the size of gradients is the size of updates, and the two explanations cannot be "
      "distinguished.",
      "Holding updates also slows them: an update that is held is a smaller rate at that step. Where it "
      "helps no more than a lower rate does, it shows that steps that are too large do harm, not that depth "
      "made them too large.",
      "Holding gradients would say nothing here: Adam divides by their size, so the same gradients, scaled, "
      "give nearly the same updates.",
      "The gains with held updates and at the lower rate are means over failed and surviving runs; the "
      "ledger leaves out the seeds on which one of the two failed.",
      "One task and one depth of training, at 32 channels.",
  });
}

}  // namespace gradus::lab::update_size
