// The figure of chapter 20: a Pre-LN decoder block, whose middle branch reads memory.

#include <fmt/format.h>

#include "docs/draw/course_figure.h"
#include "docs/draw/drawing.h"

namespace gradus::docs {

namespace {

constexpr double kStream = 40, kSide = 160, kWide = 140, kMemory = 342;

struct Branch {
  const char *name, *scores;  // of the box after LN, and what it compares
  bool reads_memory = false;
};

/// A branch from the stream at `fork` and back, from below; returns the height of the sum.
double draw_branch(Drawing& d, double fork, const Branch& branch) {
  const double norm = fork - 34, f = norm - 58, join = f - 52, right = kSide + kWide / 2;
  d.line(fmt::format("M{:g} {:g}H{:g}", kStream, fork, kSide));
  d.arrow_up(kSide, fork, norm + 14);
  d.box(kSide, norm, kWide, "LN", Ink::blue);
  d.arrow_up(kSide, norm - 14, f + 14);
  d.text(kSide + 12, norm - 24, branch.scores[0] ? branch.reads_memory ? "q" : "q, k, v" : "[B, T, C]");
  d.box(kSide, f, kWide, branch.name);
  if (branch.scores[0]) d.text(kSide + 12, f - 24, fmt::format("scores {}", branch.scores));
  if (branch.reads_memory) {
    d.box(kMemory, f, 92, "memory", Ink::blue);
    d.line(fmt::format("M{:g} {:g}H{:g}", kMemory - 46, f, right + 8));
    d.tip(right, f, 'l');
    d.text(right + 22, f + 18, "k, v");
    d.text(kMemory, f + 36, "[B, S, C]", "mid");
    d.text(kMemory, f + 62, "the encoder's", "soft mid");
    d.text(kMemory, f + 82, "output", "soft mid");
  }
  d.line(fmt::format("M{:g} {:g}V{:g}H{:g}", kSide, f - 14, join, kStream + 18));
  d.tip(kStream + 10, join, 'l');
  d.sum(kStream, join);
  return join;
}

std::string draw() {
  constexpr double bottom = 600;
  Drawing d;
  double below = bottom, fork = bottom - 26;
  const Branch branches[] = {
      {"self-attention", "[B, H, T, T], causal"}, {"cross-attention", "[B, H, T, S]", true}, {"FFN", ""}};
  for (const Branch& branch : branches) {
    const double join = draw_branch(d, fork, branch);
    d.arrow_up(kStream, below, join + 10, Ink::blue);
    below = join - 10, fork = join - 30;
  }
  d.arrow_up(kStream, below, below - 30, Ink::blue);
  d.text(kStream, bottom + 20, "x [B, T, C]", "head");
  return d.svg(
      400, static_cast<int>(bottom) + 36, "A decoder block",
      "A stream runs from x through three sums. The first branch has LN and causal self-attention, the "
      "second LN and cross-attention, whose keys and values come from memory, the encoder's output; "
      "the third has LN and the FFN.");
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
