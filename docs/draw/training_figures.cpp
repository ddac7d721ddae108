#include "docs/draw/training_figures.h"

#include <fmt/format.h>

#include <vector>

#include "browser/figures/placement.h"
#include "docs/draw/drawing.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/csv.h"

namespace gradus::docs {

namespace {

// --- a block, as placement.js draws it, with the gradient's path inside

constexpr double kBlock = 380, kBranch = 212, kInside = 15;

std::string times(double factor) { return factor == 1 ? "×1" : fmt::format("×{:.2f}", factor); }

/// One branch and its shortcut, on a stream at x, from bottom to top.
void draw_branch(Drawing& d, double x, double foot, const char* name, const browser::NormPlaces& norms,
                 const browser::BranchTrace& g) {
  const double branch = x + 152, fork = foot - 12, low = foot - 52, middle = foot - 96, join = foot - 168;
  const double down = x + kInside, back = branch - kInside;
  const Ink free = norms.on_stream ? Ink::plain : Ink::blue;
  d.line(fmt::format("M{:g} {:g}V{:g}", down, foot - kBranch - 26, fork - 14), Ink::orange);
  d.line(fmt::format("M{:g} {:g}H{:g}V{:g}H{:g}", down, join + 14, back, fork - 12, down + 12), Ink::orange);
  d.tip(down + 6, fork - 12, 'l', Ink::orange);
  d.tip(down, fork - 14, 'd', Ink::orange);
  d.arrow_up(x, foot, join + 10, free);
  d.line(fmt::format("M{:g} {:g}V{:g}", x, join - 10, foot - kBranch), free);
  d.line(fmt::format("M{:g} {:g}H{:g}V{:g}H{:g}", x, fork, branch, join, x + 18));
  d.tip(x + 10, join, 'l');
  d.sum(x, join);
  const auto part = [&](double y, const char* words, Ink ink, double factor) {
    d.box(branch, y, 84, words, ink);
    d.text(branch + 50, y + 6, times(factor), "b");
  };
  if (norms.on_stream) {
    d.box(x, join - 28, 60, "LN", Ink::orange);
    d.text(x - 80, join - 22, times(g.on_stream), "b");
  }
  part(middle, name, Ink::plain, g.f);
  if (norms.before) part(low, "LN", Ink::blue, g.before);
  d.text(x - 36, middle, "×1", "b");
  d.text(x - 86, middle + 20, "unaltered", "soft");
  d.text(down + 12, fork - 18, "+ " + times(g.branch), "b");
}

void draw_block(Drawing& d, double left, const browser::Trace& trace, std::size_t l) {
  const double x = left + 100, bottom = 540, top = bottom - 2 * kBranch;
  const browser::BlockTrace& block = trace.blocks[l - 1];
  const Ink free = trace.norms.on_stream ? Ink::plain : Ink::blue;
  d.text(left + 12, 34, fmt::format("{}, block {} of {}", trace.norms.placement, l, trace.blocks.size()),
         "head");
  d.text(left + 12, 60, fmt::format("|x|²/d is {:.1f} after it", trace.stream[l]));
  draw_branch(d, x, bottom, "Attn", trace.norms, block.attention);
  draw_branch(d, x, bottom - kBranch, "FFN", trace.norms, block.ffn);
  d.arrow_up(x, top, top - 22, free);
  d.line(fmt::format("M{:g} {:g}V{:g}", x + kInside, bottom - 26, bottom + 14), Ink::orange);
  d.tip(x + kInside, bottom + 22, 'd', Ink::orange);
  d.text(x + 32, top - 8, "gradient 1", "b");
  d.text(x + 32, bottom + 20, fmt::format("gradient {:.2f}", block.ffn.all * block.attention.all), "b");
}

}  // namespace

std::string placement_figure() {
  const DefaultDType as_in_the_page(f32);
  const browser::Settings settings{.layers = 12};
  const browser::Session session(settings);
  Drawing d;
  for (const std::size_t i : {0, 1})
    draw_block(d, kBlock * static_cast<double>(i), browser::trace_of(session.models()[i], settings), 6);
  return d.svg(
      2 * static_cast<int>(kBlock), 580, "The gradient's path through a Pre-LN and a Post-LN block",
      "At each sum, shortcut and branch get the same gradient. The shortcut passes it on unchanged, the "
      "branch multiplies it, and below both are added. In Post-LN a norm on the stream multiplies the "
      "whole gradient once more, after each branch.");
}

kit::Panels schedule_figure(const std::filesystem::path& tries) {
  const kit::Csv csv = kit::read_csv(tries);
  const std::vector<std::string> decays = csv.text("decay");
  const auto numbers = [&](const char* column) { return csv.tensor(column).flatten().to_vector<double>(); };
  const std::vector<double> tried = numbers("try"), warmups = numbers("warmup"), steps = numbers("step");
  kit::Panels all{.title = "Three schedules with a peak of 0.0032, 6 blocks, one seed",
                  .description = "Pre-LN learns with all of them, Post-LN much better with a warm-up."};
  for (const char* model : {"Pre-LN", "Post-LN"}) {
    const std::vector<double> losses = numbers(model);
    kit::LineChart panel{
        .title = model, .x_label = "step", .y_label = "loss (nats per character)", .plot_height = 150};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i == 0 || tried[i] != tried[i - 1]) {
        const std::string warmup = warmups[i] > 0 ? fmt::format("warm-up {:g}", warmups[i]) : "no warm-up";
        panel.series.push_back({.name = warmup + (decays[i] == "none" ? "" : ", then a " + decays[i]),
                                .markers = false,
                                .style = static_cast<int>(panel.series.size())});
      }
      panel.series.back().x.push_back(steps[i]);
      panel.series.back().y.push_back(losses[i]);
    }
    all.panels.push_back(panel);
  }
  return all;
}

}  // namespace gradus::docs
