// The figure of chapter 19: a Pre-LN block with the shape of the values along each arrow.

#include <fmt/format.h>

#include <map>

#include "docs/draw/course_figure.h"
#include "docs/draw/drawing.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t B = 2, T = 16, C = 64;
constexpr double kStream = 52, kSide = 190, kWide = 120, kStep = 72;

std::string shape_of(const Tensor& x) {
  static const std::map<std::int64_t, std::string> letters{{B, "B"}, {T, "T"}, {C, "C"}, {4 * C, "4C"}};
  return fmt::format("[{}, {}, {}]", letters.at(x.size(0)), letters.at(x.size(1)), letters.at(x.size(2)));
}

struct Part {
  const char* name;
  std::string says;  // the text beside the box
  Tensor out;        // its output
  const char* more = "";
};

/// 12480 as 12,480
std::string with_comma(std::int64_t n) {
  return n < 1000 ? std::to_string(n) : fmt::format("{},{:03}", n / 1000, n % 1000);
}

/// A branch from the stream at `fork` and back, from below; returns the height of the sum.
double draw_branch(Drawing& d, double fork, const Tensor& in, const std::vector<Part>& parts) {
  const double join = fork - kStep * (static_cast<double>(parts.size()) + 0.45),
               beside = kSide + kWide / 2 + 12;
  d.line(fmt::format("M{:g} {:g}H{:g}", kStream, fork, kSide));
  d.text(kSide + 12, fork - 2, shape_of(in));
  double below = fork, y = fork + kStep * 0.3;
  for (const Part& part : parts) {
    y -= kStep;
    d.arrow_up(kSide, below, y + 14);
    d.box(kSide, y, kWide, part.name, part.name[0] == 'L' ? Ink::blue : Ink::plain);
    d.text(beside, part.more[0] ? y - 4 : y + 6, part.says);
    if (part.more[0]) d.text(beside, y + 16, part.more);
    d.text(kSide + 12, y - 30, shape_of(part.out));
    below = y - 14;
  }
  d.line(fmt::format("M{:g} {:g}V{:g}H{:g}", kSide, below, join, kStream + 18));
  d.tip(kStream + 10, join, 'l');
  d.sum(kStream, join);
  return join;
}

std::string draw() {
  const nn::PreLNBlock block({.d_model = C, .heads = 4});
  const auto count = [](const nn::Module& part) { return with_comma(part.num_parameters()); };
  const NoGrad guard;
  const Tensor x = ones({B, T, C}), n1 = block.norm1(x), a = block.self_attn(n1), h = x + a;
  const Tensor n2 = block.norm2(h), w1 = block.ffn.linear1(n2), r = relu(w1), w2 = block.ffn.linear2(r);
  const std::string norm = with_comma(2 * C);
  constexpr double bottom = 650, fork = bottom - 26;
  Drawing d;
  d.text(12, 32, fmt::format("C = {}: {} parameters", C, count(block)), "head");
  const double sum1 =
      draw_branch(d, fork, x, {{"LN", norm, n1}, {"attention", count(block.self_attn), a, "tokens meet"}});
  const double sum2 = draw_branch(d, sum1 - 40, h,
                                  {{"LN", norm, n2},
                                   {"W₁", count(block.ffn.linear1), w1},
                                   {"relu", "FFN: each", r, "token by itself"},
                                   {"W₂", count(block.ffn.linear2), w2}});
  d.arrow_up(kStream, bottom, sum1 + 10, Ink::blue);
  d.arrow_up(kStream, sum1 - 10, sum2 + 10, Ink::blue);
  d.arrow_up(kStream, sum2 - 10, sum2 - 40, Ink::blue);
  d.text(kStream, bottom + 20, "x", "mid head");
  d.text(kStream - 28, sum1 - 20, "h", "head");
  d.text(kStream - 28, sum2 - 24, "y", "head");
  return d.svg(
      400, static_cast<int>(bottom) + 36, "A Pre-LN block",
      "A stream runs from x through two sums, h and y. The first branch has LN and attention, in "
      "which tokens interact; the second has LN, W1, relu and W2, which work on each token separately. "
      "All arrows carry [B, T, C], except those between W1 and W2, which carry [B, T, 4C].");
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
