// One drawing for each placement: docs/pictures/placements.svg.

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <variant>

#include "docs/draw/drawing.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::docs {

namespace {

constexpr double kColumn = 205, kWidth = 64;

using Joints = std::vector<Joint>;
using Function = void (*)(Drawing& drawing, double x, double bottom, double top);

struct Cell {
  std::vector<std::string> equation;  // one string per line
  std::variant<Joints, Function> drawn;
};

/// The block's input is added once more at its end.
void draw_b2t(Drawing& d, double x, double bottom, double top) {
  const Joints joints{{.branch = {{"Attn"}}, .after = {{"LN", Ink::orange}}, .label = "y"},
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

const std::map<std::string, Cell>& cells() {
  static const Box f{"f"}, ln{"LN", Ink::blue}, on{"LN", Ink::orange}, attn{"Attn"}, ffn{"FFN"};
  static const std::map<std::string, Cell> cells{
      {"Pre-LN", {{"x + f(LN(x))"}, Joints{{.branch = {ln, f}}}}},
      {"Post-LN", {{"LN(x + f(x))"}, Joints{{.branch = {f}, .after = {on}}}}},
      {"no norm", {{"x + f(x)"}, Joints{{.branch = {f}}}}},
      {"Peri-LN", {{"x + LN(f(LN(x)))"}, Joints{{.branch = {ln, f, ln}}}}},
      {"OLMo 2", {{"x + LN(f(x))"}, Joints{{.branch = {f, ln}}}}},
      {"LN-Scaling", {{"x + f(LN(x) / √l)"}, Joints{{.branch = {ln, {"1 / √l"}, f}}}}},
      {"ReZero", {{"x + a f(x)"}, Joints{{.branch = {f, {"a"}}}}}},
      {"DeepNorm", {{"LN(a x + f(x))"}, Joints{{.branch = {f}, .shortcut = "a", .after = {on}}}}},
      {"Admin", {{"LN(x w + f(x))"}, Joints{{.branch = {f}, .shortcut = "w", .after = {on}}}}},
      {"Keel", {{"LN(a x + f(LN(x)))"}, Joints{{.branch = {ln, f}, .shortcut = "a", .after = {on}}}}},
      {"ResiDual", {{"x ← LN(x + f(x))", "r ← r + f(x)"}, draw_resi_dual}},
      {"SiameseNorm", {{"x ← LN(x)", "z = f(LN(x + LN(y)))"}, draw_siamese}},
      {"Mix-LN",
       {{"first LN(x + f(x))", "then  x + f(LN(x))"},
        Joints{{.branch = {f}, .after = {on}}, {.branch = {ln, f}}}}},
      {"B2T", {{"y = LN(x + Attn(x))", "LN(x + y + FFN(y))"}, draw_b2t}},
      {"HybridNorm",
       {{"x + Attn(LN(q,k,v))", "LN(y) + FFN(LN(y))"},
        Joints{{.branch = {{"LN qkv", Ink::blue}, attn}, .after = {on}}, {.branch = {ffn}}}}}};
  return cells;
}

}  // namespace

std::string placement_drawings() {
  // In the order of the page, except that the tall drawings come last.
  const std::vector<std::vector<std::string>> rows{{"Pre-LN", "Post-LN", "no norm"},
                                                   {"Peri-LN", "OLMo 2", "LN-Scaling"},
                                                   {"ReZero", "DeepNorm", "Admin"},
                                                   {"Keel", "ResiDual", "SiameseNorm"},
                                                   {"Mix-LN", "B2T", "HybridNorm"}};
  Drawing d;
  double y = 0;
  std::size_t drawn = 0;
  for (const auto& row : rows) {
    const double height = row[0] == "Mix-LN" ? 430 : row[0] == "Keel" ? 390 : 310;
    for (std::size_t i = 0; i < row.size(); ++i, ++drawn) {
      const Cell& cell = cells().at(row[i]);
      const double left = kColumn * static_cast<double>(i) + 12, x = left + 38, bottom = y + height - 40;
      const double top = y + 68 + 18 * static_cast<double>(cell.equation.size());
      d.text(left, y + 34, row[i], "head");
      for (std::size_t line = 0; line < cell.equation.size(); ++line)
        d.text(left, y + 56 + 18 * static_cast<double>(line), cell.equation[line], "mono");
      if (const Joints* joints = std::get_if<Joints>(&cell.drawn))
        draw_joints(d, x, bottom, top, kWidth, *joints);
      else
        std::get<Function>(cell.drawn)(d, x, bottom, top);
      d.text(row[i] == "B2T" ? x + 18 : x, bottom + 18, "x", "mid head");
    }
    y += height;
  }
  for (const nn::Placement& placement : nn::placements())
    if (!cells().contains(placement.name)) throw std::runtime_error("no drawing of " + placement.name);
  if (drawn != cells().size()) throw std::runtime_error("a drawing of a placement has no place");
  return d.svg(
      3 * static_cast<int>(kColumn), static_cast<int>(y), "Placements as drawings",
      "Fifteen drawings, from x below to the result above. Pre-LN, no norm, Peri-LN, OLMo 2, LN-Scaling and "
      "ReZero leave the stream untouched and put norms or numbers on the branch. Post-LN has its norm on the "
      "stream; DeepNorm, Admin and Keel too, with a larger stream, Keel with one more norm on the branch. "
      "ResiDual and SiameseNorm have two streams. Mix-LN is Post-LN below and Pre-LN above, B2T brings x to "
      "the end of the block, HybridNorm normalizes queries, keys and values and then the stream.");
}

}  // namespace gradus::docs
