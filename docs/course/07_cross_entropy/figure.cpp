// The figure of chapter 7: the loss on pairs that were seen and on new ones, and the entropy between them.

#include <cmath>
#include <vector>

#include "docs/draw/course_figure.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr int kSteps = 200;
constexpr unsigned kTables = 20;

/// The chapter's language: the next of four letters with probability 0.7, each other letter with 0.1.
Tensor next_letters() { return tensor({0.7, 0.1, 0.1, 0.1}); }

/// Means of 20 tables, each learning from n pairs: the loss on these pairs and the exact loss on new ones.
std::vector<kit::Series> learning(std::int64_t n, int style) {
  const std::string pairs = std::to_string(n) + " pairs: ";
  kit::Series seen{.name = pairs + "seen", .markers = false, .style = style};
  kit::Series fresh{.name = pairs + "new", .markers = false, .style = style + 1};
  for (int step = 1; step <= kSteps; ++step) seen.x.push_back(step);
  fresh.x = seen.x;
  seen.y = fresh.y = std::vector<double>(seen.x.size());
  const Tensor q = next_letters();
  const Tensor truth = stack({roll(q, 1, 0), roll(q, 2, 0), roll(q, 3, 0), q});
  for (unsigned seed = 0; seed < kTables; ++seed) {
    manual_seed(seed);
    const Tensor jump = multinomial(q, n, /*replacement=*/true), before = randint(0, 4, {n});
    const Tensor after = (before + 1 + jump) % 4;
    Tensor table = zeros({4, 4}).requires_grad_();
    for (std::size_t step = 0; step < kSteps; ++step) {
      table.zero_grad();
      cross_entropy(table[before], after).backward();
      const NoGrad guard;
      table -= 4.0 * table.grad();
      seen.y[step] += cross_entropy(table[before], after).item() / kTables;
      fresh.y[step] += cross_entropy(table, truth).item() / kTables;
    }
  }
  return {seen, fresh};
}

kit::LineChart draw() {
  const Tensor q = next_letters();
  kit::LineChart chart{.title = "A table learns which letter follows",
                       .description =
                           "With 30 pairs the loss on seen pairs falls below the entropy, and that "
                           "on new ones rises again. With 1000 pairs both end at the entropy.",
                       .x_label = "steps of gradient descent",
                       .y_label = "loss (nats)",
                       .x_axis = kit::AxisKind::log,
                       .y_low = 0.6,
                       .references = {{.at = -(q * log(q)).sum().item(), .label = "entropy: the floor"},
                                      {.at = std::log(4.0), .label = "blind guess"}}};
  for (const auto& [n, style] : {std::pair(30, 0), {1000, 2}})
    for (const kit::Series& series : learning(n, style)) chart.series.push_back(series);
  return chart;
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
