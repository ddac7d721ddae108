// The picture of chapter 23: how likely the texts are that a model writes, at three temperatures.

#include <string>
#include <vector>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr int kLetters = 10;

/// log p of all texts after an a, as in the chapter's program. [V^T]
Tensor texts(const Tensor& log_p) {
  Tensor all = log_p.slice(0, 0, 1);
  for (int t = 1; t < kLetters; ++t) all = (all.unsqueeze(-1) + log_p).reshape({-1, log_p.size(1)});
  return all.reshape({-1});
}

/// The share of the texts drawn token by token at a temperature, in bins of a tenth of a nat a letter.
kit::Series drawn(const Tensor& log_p, double temperature, const char* name, int style) {
  constexpr int bins = 23;
  const Tensor bin = clamp(floor(texts(log_p) / -kLetters * 10.0), 0, bins - 1).to(i64);
  const Tensor p = exp(texts(log_softmax(log_p / temperature, -1)));
  const std::vector<double> shares = scatter_add(zeros({bins}, f64), 0, bin, p).to_vector<double>();
  kit::Series series{.name = name, .style = style};
  for (int i = 6; i < bins; ++i) {
    series.x.push_back((i + 0.5) / 10);
    series.y.push_back(100 * shares[static_cast<std::size_t>(i)]);
  }
  return series;
}

kit::LineChart draw() {
  const DefaultDType guard(f64);
  const Tensor log_p = log(
      tensor({0.40, 0.45, 0.05, 0.10, 0.30, 0.15, 0.20, 0.35, 0.25, 0.05, 0.55, 0.15, 0.50, 0.05, 0.40, 0.05})
          .reshape({4, 4}));
  Tensor greedy = zeros({}), last = zeros({1}, i64);
  for (int t = 0; t < kLetters; ++t) {
    greedy = greedy + log_p[last].max();
    last = log_p[last].argmax(-1);
  }
  return {
      .title = "Texts of ten letters that a model writes",
      .description = "At temperature 1 nearly all have more nats a letter than greedy's and the likeliest.",
      .x_label = "nats a letter, by the model itself",
      .y_label = "share of texts (%), in tenths of a nat",
      .y_low = 0,
      .y_high = 50,  // room for the labels
      .series = {drawn(log_p, 0.5, "temperature 0.5", 1), drawn(log_p, 1, "temperature 1", 0),
                 drawn(log_p, 2, "temperature 2", 2)},
      .references = {
          {.direction = kit::Direction::vertical,
           .at = -texts(log_p).max().item() / kLetters,
           .label = "likeliest"},
          {.direction = kit::Direction::vertical, .at = -greedy.item() / kLetters, .label = "greedy"}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
