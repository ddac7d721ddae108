// The figure of chapter 21: the losses of copy and recall while the tiny GPT learns.

#include <cmath>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/csv.h"

namespace gradus::docs {

namespace {

/// The mean of the seeds' losses by step, with a band from the smallest to the largest. The file lists one
/// seed's rows after the other.
kit::Series of_seeds(const kit::Csv& csv, const char* task, int style) {
  kit::Series series{.name = task, .markers = false, .style = style};
  const Tensor steps = csv.tensor("step"), losses = csv.tensor(task);
  const std::int64_t count = (steps == 0).to(i64).sum().item<std::int64_t>();
  const Tensor table = losses.reshape({count, -1});
  series.x = steps.reshape({count, -1})[0].to_vector<double>();
  series.y = table.mean(0).to_vector<double>();
  series.low = table.min(0).to_vector<double>();
  series.high = table.max(0).to_vector<double>();
  return series;
}

kit::LineChart draw(const std::filesystem::path& folder) {
  const kit::Csv csv = kit::read_csv(folder / "losses.csv");
  double floor = 0;  // as in the chapter's program
  for (int i = 0; i < 8; ++i) floor += std::pow(0.75, i) * std::log(4.0) / 8;
  return {.title = "A tiny GPT learns two tasks",
          .description = "Recall falls first and stops at its floor, copy falls later and reaches 0.",
          .x_label = "step",
          .y_label = "loss (nats), three seeds",
          .y_low = 0,
          .series = {of_seeds(csv, "copy", 0), of_seeds(csv, "recall", 1)},
          .references = {{.at = floor, .label = "floor of recall"}, {.at = 0, .label = "floor of copy"}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
