// The figure of chapter 12: which values of x [N, C, T] share their statistics, determined from the norms
// themselves.

#include <fmt/format.h>

#include <functional>

#include "docs/draw/course_figure.h"
#include "docs/draw/drawing.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t N = 2, C = 6, T = 4;

/// x [N, C, T] -> the same shape.
using Normalise = std::function<Tensor(const Tensor&)>;

/// True for the values on which y[0, 0, 0] depends.
Tensor sharing(const Normalise& norm) {
  Generator generator(1);
  const Tensor x = randn({N, C, T}, generator).to(f64).requires_grad_();
  norm(x)[0][0][0].backward();
  return x.grad().abs() > 1e-9;
}

/// Applies a norm over the last axis, to each token separately.
Normalise of_tokens(const Normalise& norm) {
  return [norm](const Tensor& x) { return norm(x.transpose(1, 2)).transpose(1, 2); };
}

void draw_norm(Drawing& d, double left, double top, const char* name, const char* what,
               const Tensor& shared) {
  constexpr double cell = 20, apart = 10;
  d.text(left, top, name, "head");
  d.text(left, top + 24, fmt::format("{} share {}", shared.to(i64).sum().item<std::int64_t>(), what));
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t c = 0; c < C; ++c)
      for (std::int64_t t = 0; t < T; ++t) {
        const double x = left + static_cast<double>(n) * (T * cell + apart) + static_cast<double>(t) * cell;
        const bool in = shared[n][c][t].item<bool>();
        const double y = top + 38 + static_cast<double>(c) * cell;
        d.rect(x, y, cell, cell, in ? "a-box" : "cell");
        if (in) d.hatch(x, y, cell, cell, Ink::blue);
      }
}

std::string draw() {
  constexpr double column = 200, row = 212, first = 128;
  Drawing d;
  d.text(12, 32, "Two texts side by side (N = 2).");
  d.text(12, 56, "A column is a token (T = 4),");
  d.text(12, 80, "a row is a channel (C = 6).");
  const auto draw = [&](int i, const char* name, const char* what, const Normalise& norm) {
    draw_norm(d, 12 + column * (i % 2), first + row * (i / 2), name, what, sharing(norm));
  };
  draw(0, "batch norm", "a mean", nn::BatchNorm(C));
  draw(1, "group norm (2)", "a mean", nn::GroupNorm(2, C));
  draw(2, "layer norm", "a mean", of_tokens([](const Tensor& x) { return layer_norm(x); }));
  draw(3, "RMS norm", "a mean square", of_tokens([](const Tensor& x) { return rms_norm(x); }));
  return d.svg(
      400, static_cast<int>(first + 2 * row - 30), "Which values share their statistics",
      "Two texts of four tokens, each with six channels. Batch norm: one channel in all tokens of both "
      "texts. Group norm: three channels in all tokens of one text. Layer norm and RMS norm: all channels "
      "of one token.");
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
