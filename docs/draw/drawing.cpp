#include "docs/draw/drawing.h"

#include <fmt/format.h>

#include <algorithm>

namespace gradus::docs {

namespace {

constexpr double kBoxHeight = 28, kRadius = 10, kTip = 8;

constexpr std::string_view kStyle = R"(  <style>
    text { font: 17px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; fill: #1c1d20 }
    .mono { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 14px }
    .head { font-size: 19px; font-weight: 600 }
    .soft { fill: #55595f; font-size: 15px }
    .mid { text-anchor: middle }
    .paper { fill: #ffffff }
    .cell { fill: #f1f3f6; stroke: #8b9097; stroke-width: 1 }
    .line { fill: none; stroke: #55595f; stroke-width: 1.6 }
    .tip { fill: #55595f }
    .a { fill: #0065a3 }
    .a-line { fill: none; stroke: #0065a3; stroke-width: 2.2 }
    .a-box { fill: #dcebf7; stroke: #0065a3; stroke-width: 1.4 }
    .b-box { fill: #fbe6d8; stroke: #b84a00; stroke-width: 1.4 }
    .b { fill: #b84a00 }
    .b-line { fill: none; stroke: #b84a00; stroke-width: 2.2; stroke-dasharray: 6 4 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e8e8e6 }
      .soft { fill: #a9adb3 }
      .paper { fill: #17191d }
      .cell { fill: #24282f; stroke: #7d838b }
      .line { stroke: #a9adb3 }
      .tip { fill: #a9adb3 }
      .a { fill: #62b6f0 }
      .a-line { stroke: #62b6f0 }
      .a-box { fill: #173a54; stroke: #62b6f0 }
      .b-box { fill: #4c2a14; stroke: #ff9654 }
      .b { fill: #ff9654 }
      .b-line { stroke: #ff9654 }
    }
  </style>
)";

std::string escaped(std::string_view words) {
  std::string result;
  for (const char c : words) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

}  // namespace

void Drawing::text(double x, double y, std::string_view words, std::string_view style) {
  body_ += fmt::format("  <text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n", x, y, style, escaped(words));
}

void Drawing::line(std::string_view path, Ink ink) {
  const char* const style = ink == Ink::blue ? "a-line" : ink == Ink::orange ? "b-line" : "line";
  body_ += fmt::format("  <path d=\"{}\" class=\"{}\"/>\n", path, style);
}

void Drawing::tip(double x, double y, char to, Ink ink) {
  const double back = kTip + 2, side = 4.4, sign = to == 'l' || to == 'u' ? 1 : -1;
  const std::string path =
      to == 'u' || to == 'd' ? fmt::format("M{:g} {:g}l{:g} {:g}h{:g}z", x, y, side, sign * back, -2 * side)
                             : fmt::format("M{:g} {:g}l{:g} {:g}v{:g}z", x, y, sign * back, -side, 2 * side);
  const char* const style = ink == Ink::blue ? "a" : ink == Ink::orange ? "b" : "tip";
  body_ += fmt::format("  <path d=\"{}\" class=\"{}\"/>\n", path, style);
}

void Drawing::arrow_up(double x, double y0, double y1, Ink ink) {
  line(fmt::format("M{:g} {:g}V{:g}", x, y0, y1 + kTip), ink);
  tip(x, y1, 'u', ink);
}

void Drawing::box(double x, double y, double width, std::string_view words, Ink ink) {
  const char* const style = ink == Ink::blue ? "a-box" : ink == Ink::orange ? "b-box" : "cell";
  body_ +=
      fmt::format("  <rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" rx=\"5\" class=\"{}\"/>\n",
                  x - width / 2, y - kBoxHeight / 2, width, kBoxHeight, style);
  text(x, y + 6, words, "mid");
}

void Drawing::sum(double x, double y) {
  body_ += fmt::format("  <circle cx=\"{:g}\" cy=\"{:g}\" r=\"{:g}\" class=\"cell\"/>\n", x, y, kRadius);
  line(fmt::format("M{:g} {:g}h10m-5 -5v10", x - 5, y));
}

void Drawing::rect(double x, double y, double width, double height, std::string_view style) {
  body_ += fmt::format("  <rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" class=\"{}\"/>\n", x, y,
                       width, height, style);
}

void Drawing::hatch(double x, double y, double width, double height, Ink ink) {
  const double right = x + width, foot = y + height;
  line(fmt::format("M{0:g} {1:g}L{2:g} {3:g}M{0:g} {5:g}L{4:g} {3:g}M{2:g} {5:g}L{4:g} {1:g}", x,
                   y + height / 2, x + width / 2, y, right, foot),
       ink);
}

std::string Drawing::svg(int width, int height, std::string_view title, std::string_view description) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\">\n"
      "  <title>{2}</title>\n  <desc>{3}</desc>\n{4}"
      "  <rect class=\"paper\" width=\"{0}\" height=\"{1}\" rx=\"8\"/>\n{5}</svg>\n",
      width, height, escaped(title), escaped(description), kStyle, body_);
}

namespace {

/// One branch, from the fork to the sum at `join`.
void draw_branch(Drawing& drawing, double x, double fork, double join, double each, double width,
                 const Joint& joint) {
  const double side = x + 54 + width / 2;
  drawing.line(fmt::format("M{:g} {:g}H{:g}", x, fork, side));
  double below = fork, at = fork + each / 4;
  for (const Box& box : joint.branch) {
    at -= each;
    drawing.arrow_up(side, below, at + kBoxHeight / 2);
    drawing.box(side, at, width, box.words, box.ink);
    below = at - kBoxHeight / 2;
  }
  drawing.line(fmt::format("M{:g} {:g}V{:g}H{:g}", side, below, join, x + kRadius + kTip));
  drawing.tip(x + kRadius, join, 'l');
}

/// The distance between boxes on the branch.
double spacing(double height, const std::vector<Joint>& joints) {
  double boxes = 0;
  height -= 24;
  for (const Joint& joint : joints) {
    height -= 12 + kRadius + 36 * static_cast<double>(joint.after.size());
    boxes += static_cast<double>(joint.branch.size()) + 0.5;
  }
  return std::clamp(height / boxes, 42.0, 80.0);
}

}  // namespace

std::vector<double> draw_joints(Drawing& drawing, double x, double bottom, double top, double width,
                                const std::vector<Joint>& joints) {
  const bool touched = std::any_of(joints.begin(), joints.end(), [](const Joint& joint) {
    return !joint.shortcut.empty() || !joint.after.empty();
  });
  const Ink ink = touched ? Ink::plain : Ink::blue;
  const double each = spacing(bottom - top, joints);
  std::vector<double> sums;
  double y = bottom;  // the stream is drawn up to here
  for (const Joint& joint : joints) {
    const double fork = y - 12, join = fork - each * (static_cast<double>(joint.branch.size()) + 0.5);
    draw_branch(drawing, x, fork, join, each, width, joint);
    if (joint.shortcut.empty()) {
      drawing.arrow_up(x, y, join + kRadius, ink);
    } else {
      const double at = (fork + join) / 2;
      drawing.arrow_up(x, y, at + kBoxHeight / 2);
      drawing.box(x, at, 36, joint.shortcut);
      drawing.arrow_up(x, at - kBoxHeight / 2, join + kRadius);
    }
    drawing.sum(x, join);
    sums.push_back(join);
    y = join - kRadius;
    for (const Box& box : joint.after) {
      drawing.line(fmt::format("M{:g} {:g}v-8", x, y), ink);
      drawing.box(x, y - 8 - kBoxHeight / 2, 64, box.words, box.ink);
      y -= 8 + kBoxHeight;
    }
    if (!joint.label.empty()) drawing.text(x - 18, y - 4, joint.label);
  }
  drawing.arrow_up(x, y, std::min(top, y - 24), ink);
  return sums;
}

}  // namespace gradus::docs
