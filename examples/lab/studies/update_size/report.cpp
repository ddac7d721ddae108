#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/slope.h"
#include "lab/studies/update_size/update_size.h"
#include "lab/training/trial.h"

namespace gradus::lab::update_size {

namespace {

using Values = std::vector<double>;

constexpr const char* kArms[][2] = {{"pre", "Pre-LN"},
                                    {"post", "Post-LN"},
                                    {"slower", "Post-LN, lower rate"},
                                    {"held", "Post-LN, updates held"}};

Values of_seeds(const StudyResults& results, const char* placement, std::int64_t layers, const char* number) {
  Values values;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (const std::string run = size_name(placement, layers, seed); results.has(run))
      values.push_back(results.number(run, number));
  return values;
}

std::vector<Values> by_depth(const StudyResults& results, const char* placement, const char* number) {
  std::vector<Values> values;
  for (const std::int64_t layers : depths_of(results.options))
    values.push_back(of_seeds(results, placement, layers, number));
  return values;
}

Values depths(const StudyResults& results) {
  Values x;
  for (const std::int64_t layers : depths_of(results.options)) x.push_back(static_cast<double>(layers));
  return x;
}

kit::LineChart depth_chart(const StudyResults& results, const char* title, const char* number) {
  kit::LineChart chart{.title = title,
                       .x_label = "layers",
                       .y_label = "",
                       .x_axis = kit::AxisKind::log,
                       .y_axis = kit::AxisKind::log,
                       .x_ticks = depths(results)};
  for (std::size_t p = 0; p < kPlacements.size(); ++p)
    if (kit::Series line = band(kPlacements[p], depths(results), by_depth(results, kPlacements[p], number),
                                static_cast<int>(p));
        !line.x.empty())
      chart.series.push_back(line);
  return chart;
}

/// Growth exponents of one number, a seed each.
Values slopes(const StudyResults& results, const char* placement, const char* number) {
  Values values;
  for (const std::uint64_t seed : seeds_of(results.options)) {
    Values sizes;
    for (const std::int64_t layers : depths_of(results.options))
      sizes.push_back(results.number(size_name(placement, layers, seed), number));
    values.push_back(log_slope(depths(results), sizes));
  }
  return finite(values);
}

std::string growth_sentence(const StudyResults& results) {
  const Values pre = slopes(results, "Pre-LN", "update.1"), post = slopes(results, "Post-LN", "update.1"),
               deep = slopes(results, "DeepNorm", "update.1");
  if (pre.empty() || post.empty() || deep.empty()) return "Not all depths are done.";
  const double difference = mean(post) - mean(pre);
  return fmt::format(
      "The change of the output after one update goes with depth as L to the power {} in Post-LN, {} in "
      "Pre-LN and {} in DeepNorm. From Pre-LN to Post-LN: {}. DeepNet's derivation gives DeepNorm 0, for "
      "gradient descent; this is Adam: {}.",
      mean_and_range(post), mean_and_range(pre), mean_and_range(deep),
      difference > 0.1    ? "it grows faster in Post-LN"
      : difference < -0.1 ? "it grows faster in Pre-LN"
                          : "about alike",
      mean(deep) > 0.2 ? "it grows" : "it does not grow");
}

std::string gradient_sentence(const StudyResults& results) {
  const Values post = slopes(results, "Post-LN", "gradient"), pre = slopes(results, "Pre-LN", "gradient");
  if (post.empty() || pre.empty()) return "";
  const double slope = mean(post);
  return fmt::format("Post-LN's first gradient goes as L to the power {}, Pre-LN's as {}: {}. ",
                     mean_and_range(post), mean_and_range(pre),
                     slope > 0.2 ? "gradients grow with depth too, so that the start alone does not tell the "
                                   "two explanations apart"
                     : slope < -0.2 ? "gradients fall with depth, while updates do not have to"
                                    : "gradients hardly change with depth");
}

void add_slopes(Page& page, const StudyResults& results) {
  kit::Table table{
      .caption = "Exponent p in L^p, fitted over the depths, a fit a seed: mean (lowest to highest)",
      .header = {"placement", "after 1 update", "after 16", "one step of SGD", "gradient norm"}};
  for (const char* placement : kPlacements) {
    table.rows.push_back({placement});
    for (const char* number : {"update.1", "update.16", "sgd", "gradient"})
      table.rows.back().push_back(mean_and_range(slopes(results, placement, number)));
  }
  page.html.table(table);
}

void add_sizes(Page& page, const StudyResults& results) {
  page.html.heading("How far one update moves the output");
  page.html.paragraph(fmt::format(
      "|F(x, w′) − F(x, w)| as the root mean square over the logits of one batch, w′ after updates of Adam "
      "at "
      "rate {} without warm-up. Models of 64 channels and 4 heads on the recall language, 4 windows a batch, "
      "matrices N(0, 1/fan_in) with what a placement sets itself (DeepNorm its matrices, Admin its "
      "shortcuts). "
      "The rate is small so that outputs move by less than their own size, which is about 1: a norm lets "
      "them "
      "go no further.",
      kit::number_text(kRate)));
  kit::Panels panels{.title = "Change of the logits (root mean square) against depth"};
  for (const auto& [title, number] : {std::pair{"after 1 update", "update.1"}, {"after 16", "update.16"}})
    if (kit::LineChart chart = depth_chart(results, title, number); !chart.series.empty())
      panels.panels.push_back(chart);
  if (panels.panels.size() == 2) {
    panels.panels[0].y_label = "change of logits";
    page.figure("updates-by-depth", panels,
                fmt::format("Adam at rate 0.000001, a rate so small that no norm limits the change. {} {}",
                            growth_sentence(results), band_words(seeds_of(results.options).size())));
  }
  kit::LineChart gradients = depth_chart(results, "Norm of the whole gradient at the start", "gradient");
  gradients.y_label = "|dL/dw|";
  if (!gradients.series.empty())
    page.figure("gradients-by-depth", gradients,
                gradient_sentence(results) + band_words(seeds_of(results.options).size()));
  add_slopes(page, results);
}

std::vector<Values> curves(const StudyResults& results, const std::string& name) {
  std::vector<Values> all;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (results.has(train_name(seed))) all.push_back(results.series(train_name(seed), name));
  return all;
}

kit::LineChart curve_chart(const StudyResults& results, const char* title, const std::string& series,
                           const char* label) {
  kit::LineChart chart{.title = title, .x_label = "step", .y_label = label};
  Values steps;
  for (int i = 0; i < 40; ++i) steps.push_back(std::floor(i * (kTrainedSteps - 1) / 39.0) + 1);
  for (std::size_t a = 0; a < std::size(kArms); ++a)
    if (kit::Series line =
            band_of_curves(kArms[a][1], curves(results, series + kArms[a][0]), static_cast<int>(a), steps);
        !line.x.empty())
      chart.series.push_back(line);
  return chart;
}

Values trained_numbers(const StudyResults& results, const std::string& name) {
  Values values;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (results.has(train_name(seed))) values.push_back(results.number(train_name(seed), name));
  return values;
}

std::string learned_words(const StudyResults& results, const char* arm) {
  double learned = 0;
  const Values seeds = trained_numbers(results, fmt::format("learned.{}", arm));
  for (const double one : seeds) learned += one;
  return fmt::format("{:.0f} of {}", learned, counted(static_cast<std::int64_t>(seeds.size()), "seed"));
}

/// What was gained on Post-LN as it is.
std::string gain_sentence(const StudyResults& results, const char* arm, const std::string& what) {
  Values gains;
  const Values post = trained_numbers(results, "loss.post"),
               changed = trained_numbers(results, fmt::format("loss.{}", arm));
  for (std::size_t i = 0; i < post.size(); ++i) gains.push_back(post[i] - changed[i]);
  const Spread spread = spread_of(gains);
  const char* did = spread.low > 0.1    ? "trains better on every seed"
                    : spread.high < 0.1 ? "trains better on no seed"
                    : spread.mean > 0.1 ? "trains better on some seeds"
                                        : "trains better on few seeds";
  return fmt::format("**{}**, Post-LN {}: its loss is lower by {} nats; {} learned.", what, did,
                     mean_and_range(gains), learned_words(results, arm));
}

std::string training_words() {
  return fmt::format("{} layers, Adam at rate {}. ", kTrainedLayers, kit::number_text(kTrainedRate));
}

void add_held_charts(Page& page, const StudyResults& results) {
  const std::string bands = band_words(trained_numbers(results, "loss.pre").size());
  kit::LineChart losses = curve_chart(results, "Training loss", "losses.", "nats per character");
  page.figure("held-losses", losses,
              fmt::format("{}With updates held {} learned, as it is {}. {}", training_words(),
                          learned_words(results, "held"), learned_words(results, "post"), bands));
  kit::LineChart updates =
      curve_chart(results, "Change of the logits at each step", "updates.", "root mean square");
  updates.y_axis = kit::AxisKind::log;
  const Values most = trained_numbers(results, "held.most"), first = trained_numbers(results, "larger.first");
  page.figure(
      "held-updates", updates,
      fmt::format("{}Post-LN's first update moves the logits {:.2f} times as far as Pre-LN's in the "
                  "geometric mean. Held updates go at most {} times as far as Pre-LN's at that step. {}",
                  training_words(), std::pow(10.0, mean(first)), kit::number_text(spread_of(most).high, 3),
                  bands));
}

void add_training(Page& page, const StudyResults& results) {
  if (trained_numbers(results, "loss.pre").empty()) return;
  page.html.heading("Holding updates");
  page.html.paragraph(fmt::format(
      "The same batches four times, {} layers, {} steps of Adam at {} without warm-up: Pre-LN; Post-LN; "
      "Post-LN at the lower rate {}; Post-LN with each update scaled down where it moves the batch's logits "
      "further than Pre-LN's own update at that step. A run learned when its loss ends below {} nats, the "
      "best that counting the last characters gives; Pre-LN did on {}, Post-LN on {}.",
      kTrainedLayers, kTrainedSteps, kit::number_text(kTrainedRate), kit::number_text(kSlowRate),
      nats(recall_task().ngram().loss), learned_words(results, "pre"), learned_words(results, "post")));
  page.html.list({gain_sentence(results, "held", "With updates held to Pre-LN's"),
                  gain_sentence(results, "slower", "At the lower rate")});
  add_held_charts(page, results);
  kit::Table table{.caption = "Validation loss at the end (nats) and runs that learned",
                   .header = {"model", "loss: mean (lowest to highest)", "learned"}};
  for (const auto& arm : kArms)
    table.rows.push_back({arm[1], mean_and_range(trained_numbers(results, fmt::format("loss.{}", arm[0]))),
                          learned_words(results, arm[0])});
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_sizes(page, results);
  add_training(page, results);
  page.html.heading("What this does not show");
  page.html.list({
      "The papers' bounds are upper bounds of an expectation: a slope below them contradicts nothing.",
      "Adam's first update has the size of the rate in every weight, whatever the gradient; with gradient "
      "descent the size of gradients is the size of updates, and the two explanations cannot be told apart.",
      "Holding updates also slows them: an update that is held is a smaller rate at that step. Where it "
      "helps "
      "no more than a lower rate does, it says that too large steps do harm, not that depth is what made "
      "them "
      "so.",
      "Holding gradients would say nothing here: Adam divides by their size, so that the same gradients, "
      "scaled, give nearly the same updates.",
      "One task, one rate and one depth of training, at 32 channels.",
  });
}

}  // namespace gradus::lab::update_size
