// The figure of chapter 15: sinusoidal positions as squares. The area is the absolute value, the filling the
// sign.

#include <fmt/format.h>

#include <cmath>

#include "docs/draw/course_figure.h"
#include "docs/draw/drawing.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t kPositions = 24, kChannels = 16;
constexpr double kColumn = 22, kRow = 17;  // distances

/// A number between -1 and 1 as a square of that area in a cell around (x, y).
void draw_number(Drawing& d, double x, double y, double number) {
  const double side = (kRow - 2) * std::sqrt(std::abs(number));
  if (side < 0.5) return;
  d.rect(x - side / 2, y - side / 2, side, side, number > 0 ? "a" : "b-box");
}

std::string draw() {
  constexpr double left = 36, top = 88;
  Drawing d;
  d.text(12, 30, "A row is a position, a column a channel");
  draw_number(d, 22, 51, 1);
  d.text(38, 57, "positive");
  draw_number(d, 142, 51, -1);
  d.text(158, 57, "negative");
  const Tensor p = nn::SinusoidalPositions(kPositions, kChannels)(kPositions);
  for (std::int64_t c = 0; c < kChannels; ++c)
    d.text(left + kColumn * (static_cast<double>(c) + 0.5), top - 2, std::to_string(c), "soft mid");
  for (std::int64_t t = 0; t < kPositions; ++t) {
    const double y = top + 6 + kRow * (static_cast<double>(t) + 0.5);
    if (t % 4 == 0) d.text(left - 14, y + 5, std::to_string(t), "soft mid");
    for (std::int64_t c = 0; c < kChannels; ++c)
      // Rounded, so that sines near 0 look the same on every machine.
      draw_number(d, left + kColumn * (static_cast<double>(c) + 0.5), y,
                  std::round(p[t][c].item() * 1e3) / 1e3);
  }
  return d.svg(400, static_cast<int>(top + kRow * kPositions + 18), "Sinusoidal positions",
               "Twenty-four positions of sixteen channels. The sines and cosines of the first channels "
               "change sign every "
               "few positions, those of the last channels stay as they are at position 0.");
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
