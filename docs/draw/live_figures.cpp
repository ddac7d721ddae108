#include "docs/draw/live_figures.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "browser/figures/adam.h"
#include "browser/figures/attention.h"
#include "browser/figures/tape.h"
#include "docs/draw/drawing.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/data/files.h"

namespace gradus::docs {

namespace {

// --- the tape of layer norm in parts, after backward: one node above the other, the oldest at the bottom

std::string format_values(const std::vector<double>& values) {
  std::string words;
  for (const double value : values) {
    std::string one = fmt::format("{:.2f}", value);
    if (one == "-0.00") one = "0.00";
    if (one[0] == '-') one = "−" + one.substr(1);
    words += (words.empty() ? "" : ", ") + one;
  }
  return words;
}

std::string tape() {
  constexpr double kRow = 46, kX = 150, kWidth = 190, kBottom = 420, kHalf = 14;
  const browser::TapeRun run = browser::run_tape("parts", {3, -0.5, 1});
  Drawing drawing;
  const auto height = [](std::size_t note) { return kBottom - kRow * static_cast<double>(note); };
  for (std::size_t i = 0; i < run.notes.size(); ++i) {
    for (const std::size_t from : run.notes[i].inputs) {
      if (from + 1 == i) {
        drawing.arrow_up(kX, height(from) - kHalf, height(i) + kHalf);
        continue;
      }
      const double side = kX - kWidth / 2, out = side - 18 - 4 * static_cast<double>(i - from);
      const double y0 = height(from) - 6, y1 = height(i) + 6;
      drawing.line(fmt::format("M{:g} {:g}H{:g}V{:g}H{:g}", side, y0, out, y1, side - 8), Ink::blue);
      drawing.tip(side, y1, 'r', Ink::blue);
    }
  }
  for (const browser::TapeVisit& visit : run.visits) {
    const browser::TapeNote& note = run.notes[visit.note];
    const double y = height(visit.note);
    drawing.box(kX, y, kWidth, note.code.empty() ? note.name : note.name + " = " + note.code,
                visit.handed.empty() ? Ink::blue : Ink::plain);
    drawing.text(270, y + 6, format_values(note.value));
    drawing.text(450, y + 6, format_values(visit.gradient), "a");
  }
  drawing.text(270, 24, "value", "head");
  drawing.text(450, 24, "gradient", "head a");
  return drawing.svg(
      640, 446, "The tape of layer norm in parts",
      "Nine nodes, recorded from bottom to top, with the value and the gradient of each. d is used twice, by "
      "sq and by y, and x by mu and by d: the gradients of both uses are added.");
}

// --- Adam's first steps

kit::Series steps_of(const char* name, const char* stream, std::int64_t warmup, int style) {
  kit::Series series{.name = name, .markers = false, .style = style};
  for (const double taken : browser::first_steps({.stream = stream, .warmup = warmup}).adam.taken) {
    series.x.push_back(static_cast<double>(series.x.size() + 1));
    series.y.push_back(taken);
  }
  return series;
}

kit::Panels adam() {
  kit::Panels all{
      .title = "Adam's first 40 steps, in units of the rate",
      .description =
          "Every first step has the length of the rate. On noise, steps become shorter as the mean "
          "of gradients does. After a spike the steps stay short."};
  for (const auto& [stream, title] :
       {std::pair("constant", "gradients of 1"), std::pair("noise", "noise around 0"),
        std::pair("alternating", "1, −1, 1, ..."), std::pair("spike", "1, but 50 at step 10")})
    all.panels.push_back(
        {.title = title,
         .x_label = "step",
         .y_label = "taken from the weight / rate",
         .series = {steps_of("Adam", stream, 0, 0), steps_of("with warm-up over 20 steps", stream, 20, 1)},
         .plot_height = 130});
  return all;
}

// --- one head

kit::HeatMap attention() {
  const std::vector<std::string> letters = {"a", "b", "r", "a", "c", "a", "d", "a", "b", "r", "a"};
  const browser::Head head = browser::attend({.letters = letters, .rule = "same"});
  kit::HeatMap map{
      .title = "A head that looks at the same letter, with a causal mask",
      .description = "Each row shares its weight among the places of its own letter up to itself.",
      .x_label = "key",
      .y_label = "query",
      .columns = letters,
      .rows = letters,
      .value_label = "attention weights; every row sums to 1",
      .decimals = 2,
      .missing = ""};
  for (std::size_t i = 0; i < letters.size(); ++i)
    for (std::size_t j = 0; j < letters.size(); ++j)
      map.values.push_back(j > i ? std::numeric_limits<double>::quiet_NaN() : head.weights[i][j]);
  return map;
}

}  // namespace

void draw_live_figures(const std::filesystem::path& folder) {
  kit::replace_file(folder / "figure_tape.svg", tape());
  kit::replace_file(folder / "figure_adam.svg", kit::svg_file(kit::draw(adam())));
  kit::replace_file(folder / "figure_attention.svg", kit::svg_file(kit::draw(attention())));
}

}  // namespace gradus::docs
