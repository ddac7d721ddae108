// One drawing for each placement: docs/pictures/placements.svg.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "docs/draw/drawing.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::docs {

namespace {

constexpr double kColumn = 205, kWidth = 64;

/// Draws a placement on a stream that enters at (x, bottom), in `height` with its heading.
struct Special {
  void (*draw)(Drawing& drawing, double x, double bottom, double top);
  double height, indent = 0;
};

/// The block's input is added once more at its end.
void draw_b2t(Drawing& d, double x, double bottom, double top) {
  const std::vector<Joint> joints{{.branch = {{"Attn"}}, .after = {{"LN", Ink::orange}}, .label = "y"},
                                  {.branch = {{"FFN"}}, .after = {{"LN", Ink::orange}}}};
  const double end = draw_joints(d, x + 18, bottom, top, kWidth, joints)[1];
  d.line(fmt::format("M{:g} {:g}H{:g}V{:g}H{:g}", x + 18, bottom - 12, x - 32, end, x), Ink::blue);
  d.tip(x + 8, end, 'r', Ink::blue);
}

/// z of a branch at `branch` joins both streams, x and r, at the height `join`; both leave at `top`.
void join_both(Drawing& d, double x, double branch, double r, double from, double join) {
  d.line(fmt::format("M{:g} {:g}V{:g}", branch, from, join));
  d.line(fmt::format("M{:g} {:g}H{:g}", x + 18, join, r - 18));
  d.tip(x + 10, join, 'l');
  d.tip(r - 10, join, 'r');
  d.sum(x, join);
  d.sum(r, join);
}

void draw_resi_dual(Drawing& d, double x, double bottom, double top) {
  const double branch = x + 68, r = x + 130, join = bottom - 130;
  d.line(fmt::format("M{:g} {:g}H{:g}", x, bottom - 12, branch));
  d.arrow_up(branch, bottom - 12, bottom - 58);
  d.box(branch, bottom - 72, 52, "f");
  join_both(d, x, branch, r, bottom - 86, join);
  d.arrow_up(x, bottom, join + 10);
  d.line(fmt::format("M{:g} {:g}v-8", x, join - 10));
  d.box(x, join - 32, 52, "LN", Ink::orange);
  d.arrow_up(x, join - 46, top);
  d.arrow_up(r, bottom, join + 10, Ink::blue);
  d.arrow_up(r, join - 10, top, Ink::blue);
  d.text(r, bottom + 18, "r", "mid head");
}

void draw_siamese(Drawing& d, double x, double bottom, double top) {
  const double branch = x + 68, r = x + 130, join = bottom - 218;
  d.arrow_up(x, bottom, bottom - 10);
  d.box(x, bottom - 24, 52, "LN", Ink::orange);
  d.arrow_up(x, bottom - 38, join + 10);
  d.line(fmt::format("M{:g} {:g}H{:g}", r, bottom - 6, branch));
  d.arrow_up(branch, bottom - 6, bottom - 24);
  d.box(branch, bottom - 38, 44, "LN", Ink::blue);
  d.arrow_up(branch, bottom - 52, bottom - 70);
  d.sum(branch, bottom - 80);
  d.line(fmt::format("M{:g} {:g}H{:g}", x, bottom - 80, branch - 18));
  d.tip(branch - 10, bottom - 80, 'r');
  d.arrow_up(branch, bottom - 90, bottom - 106);
  d.box(branch, bottom - 120, 44, "LN", Ink::blue);
  d.arrow_up(branch, bottom - 134, bottom - 152);
  d.box(branch, bottom - 166, 44, "f");
  join_both(d, x, branch, r, bottom - 180, join);
  d.text(x + 14, join - 12, "/ √2l", "soft");
  d.text(branch + 6, join + 24, "z");
  d.arrow_up(x, join - 10, top);
  d.arrow_up(r, bottom, join + 10, Ink::blue);
  d.arrow_up(r, join - 10, top, Ink::blue);
  d.text(r, bottom + 18, "y", "mid head");
}

/// Of the placements that joinings cannot express.
const std::map<std::string, Special> kSpecial{
    {"B2T", {draw_b2t, 430, 18}}, {"ResiDual", {draw_resi_dual, 390}}, {"SiameseNorm", {draw_siamese, 390}}};

/// Norms are blue on the branch and orange on the stream.
Box box_of(const std::string& words, Ink norm) {
  return {words, words.starts_with("LN") ? norm : Ink::plain};
}

std::vector<Joint> joints_of(const nn::Placement& placement) {
  std::vector<Joint> joints;
  for (const nn::Joining& joining : placement.joinings) {
    Joint joint{.branch = {}, .shortcut = joining.shortcut};
    for (const std::string& words : joining.branch) joint.branch.push_back(box_of(words, Ink::blue));
    if (!joining.after.empty()) joint.after = {box_of(joining.after, Ink::orange)};
    joints.push_back(joint);
  }
  return joints;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// In lines that fit: of each joining, or the equation's first two parts, without the words that explain it.
std::vector<std::string> lines_of(const nn::Placement& placement) {
  std::vector<std::string> lines;
  for (const nn::Joining& joining : placement.joinings)
    if (!joining.equation.empty()) lines.push_back(joining.equation);
  if (!lines.empty()) return lines;
  std::string rest = replaced(replaced(placement.equation, "<-", "←"), "sqrt(l)", "√l");
  const std::size_t parts = placement.joinings.empty() ? 2 : 1;
  while (lines.size() < parts) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.erase(0, end + 2);
  }
  return lines;
}

double height_of(const nn::Placement& placement) {
  if (const auto special = kSpecial.find(placement.name); special != kSpecial.end())
    return special->second.height;
  return placement.joinings.size() > 1 ? 430 : 310;
}

}  // namespace

std::string placement_drawings() {
  // In the order of the page, except that the tall drawings come last.
  std::vector<nn::Placement> all = nn::placements();
  std::stable_sort(all.begin(), all.end(), [](const nn::Placement& a, const nn::Placement& b) {
    return height_of(a) < height_of(b);
  });
  constexpr std::size_t columns = 3;
  Drawing d;
  double y = 0, height = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const nn::Placement& placement = all[i];
    if (i % columns == 0) {
      y += height;
      height = height_of(all[std::min(i + columns, all.size()) - 1]);
    }
    const std::vector<std::string> equation = lines_of(placement);
    const double left = kColumn * static_cast<double>(i % columns) + 12, x = left + 38,
                 bottom = y + height - 40;
    const double top = y + 68 + 18 * static_cast<double>(equation.size());
    d.text(left, y + 34, placement.name, "head");
    for (std::size_t line = 0; line < equation.size(); ++line)
      d.text(left, y + 56 + 18 * static_cast<double>(line), equation[line], "mono");
    const auto special = kSpecial.find(placement.name);
    if (special != kSpecial.end())
      special->second.draw(d, x, bottom, top);
    else if (!placement.joinings.empty())
      draw_joints(d, x, bottom, top, kWidth, joints_of(placement));
    else
      throw std::runtime_error("no joinings and no drawing of " + placement.name);
    d.text(special == kSpecial.end() ? x : x + special->second.indent, bottom + 18, "x", "mid head");
  }
  return d.svg(
      static_cast<int>(columns) * static_cast<int>(kColumn), static_cast<int>(y + height),
      "Placements as drawings",
      "A drawing of each placement, from x below to the result above. A stream without norms and factors is "
      "blue; norms on a stream are orange, norms on a branch blue.");
}

}  // namespace gradus::docs
