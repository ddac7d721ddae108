// Draws the charts of the documentation: draw_pictures FOLDER. The drawings of things (the tape, attention,
// ...) are made by hand, but for those of blocks (drawing.h).

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "docs/draw/course_charts.h"
#include "docs/draw/drawing.h"
#include "docs/draw/lab_figures.h"
#include "docs/draw/live_figures.h"
#include "docs/draw/performance.h"
#include "docs/draw/training_figures.h"
#include "docs/draw/translate_curves.h"
#include "gradus/gradus.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/data/files.h"
#include "lab/report/charts.h"

namespace {

using namespace gradus;
using kit::AxisKind;
using kit::LineChart;
using kit::Series;

// --- 04: the error of a central difference

Series difference_errors(DType dtype, const char* name, int style) {
  Series series{.name = name, .style = style};
  const Tensor x = full({}, 0.7, dtype);
  const auto cube = [](const Tensor& z) { return (z * z * z).item(); };
  for (double h = 1e-1; h > 5e-9; h /= 10) {
    series.x.push_back(h);
    series.y.push_back(std::abs((cube(x + h) - cube(x - h)) / (2 * h) - 3 * 0.7 * 0.7));
  }
  return series;
}

LineChart gradient_check() {
  return {.title = "Error of a central difference",
          .description = "Both lines fall with h until rounding takes over, f32 at 1e-3, f64 at 1e-6.",
          .x_label = "h",
          .y_label = "error of the derivative of x^3 at 0.7",
          .x_axis = AxisKind::log,
          .y_axis = AxisKind::log,
          .series = {difference_errors(f32, "f32", 1), difference_errors(f64, "f64", 0)}};
}

// --- 08: schedules, and steps on gradients that are noise

template <class F>
Series sampled(const char* name, const F& f, double last, int style) {
  Series series{.name = name, .style = style};
  for (int step = 1; step <= last; step += step < 10 ? 1 : 10) {
    series.x.push_back(step);
    series.y.push_back(f(step) * 1e3);
  }
  return series;
}

LineChart schedules() {
  return {.title = "Learning rate schedules, warm-up over 400 steps",
          .description = "All rise in a straight line for 400 steps; then they differ.",
          .x_label = "step",
          .y_label = "learning rate / 0.001",
          .series = {sampled("warmup_linear", optim::warmup_linear(1e-3, 400), 4000, 0),
                     sampled("warmup_cosine", optim::warmup_cosine(1e-3, 400, 4000), 4000, 1),
                     sampled("inverse_sqrt", optim::inverse_sqrt(1e-3, 400), 4000, 2),
                     sampled("noam, d = 512", optim::noam(512, 400), 4000, 3)}};
}

/// Root mean square of Adam's steps on gradients N(0, 1), in units of the peak rate.
Series noise_steps(const char* name, const optim::Schedule& lr, int style) {
  Series series{.name = name, .style = style};
  Generator generator(1);
  Tensor w = zeros({4000}).requires_grad_();
  optim::Adam opt({w}, {.lr = lr});
  for (int step = 1; step <= 300; ++step) {
    const Tensor before = w.detach().clone();
    w.set_grad(randn(w.shape(), generator));
    opt.step();
    series.x.push_back(step);
    series.y.push_back((w.detach() - before).square().mean().sqrt().item());
  }
  return series;
}

LineChart noise() {
  return {.title = "Length of Adam's steps when gradients are noise",
          .description = "Without warm-up the first steps are at full length and in random directions.",
          .x_label = "step",
          .y_label = "root mean square step / peak rate",
          .x_axis = AxisKind::log,
          .y_low = 0,
          .series = {noise_steps("constant rate", 1.0, 1),
                     noise_steps("warm-up over 100 steps", optim::warmup_linear(1.0, 100), 0)}};
}

// --- kit: bars

/// Parameters of the model of char_gpt's size, by the part that has them.
kit::BarChart parameters() {
  const nn::GPT gpt({.vocab = 65, .context = 64, .layers = 4, .block = {.d_model = 128, .heads = 4}});
  double embeddings = 0, attention = 0, ffn = 0, norms = 0;
  for (const auto& [name, parameter] : gpt.named_parameters()) {
    double& part = name.find("embedding") != std::string::npos ? embeddings
                   : name.find("attn") != std::string::npos    ? attention
                   : name.find("linear") != std::string::npos  ? ffn
                                                               : norms;
    part += static_cast<double>(parameter.numel());
  }
  return kit::bars({"feed-forward", "attention", "embeddings", "norms"}, {ffn, attention, embeddings, norms},
                   {.title = "Where a small GPT has its parameters", .value_label = "parameters"});
}

void draw_all(const std::filesystem::path& folder) {
  const DefaultDType guard(f64);
  const auto put = [&](const char* name, const auto& chart) {
    kit::replace_file(folder / (std::string(name) + ".svg"), kit::svg_file(kit::draw(chart)));
  };
  put("gradient_check", gradient_check());
  put("schedules", schedules());
  put("adam_noise", noise());
  put("kit_bars", parameters());
  const auto write = [&](const char* name, const std::string& svg) {
    kit::replace_file(folder / (std::string(name) + ".svg"), svg);
  };
  put("course_01", docs::course_01());
  put("course_06", docs::course_06());
  put("course_07", docs::course_07());
  put("course_08", docs::course_08());
  put("course_09", docs::course_09());
  put("course_10", docs::course_10());
  write("course_12", docs::course_12());
  write("course_14", docs::course_14());
  put("course_16", docs::course_16());
  write("course_17", docs::course_17());
  put("course_18", docs::course_18(GRADUS_TINY_GPT));
  put("course_23", docs::course_23(GRADUS_COURSE_PAGES));
  put("course_28", docs::course_28(GRADUS_COURSE_PAGES));
  put("course_29", docs::course_29());
  put("trap", docs::trap_chart(docs::measure_trap()));
  const lab::Initialisation start{lab::measure_initialisation({}), {}, 0};
  const lab::Placements two{lab::Placement::pre, lab::Placement::post};
  put("lab_top_gradient", lab::top_gradient_chart(start, two));  // as in the lab's report
  put("lab_norms", lab::norm_chart(start, two));
  put("lab_gradients", lab::gradient_panels(start, two, true));
  put("lab_activation_gradients", lab::gradient_panels(start, two, false));
  put("lab_schemes", lab::scheme_panels(lab::measure_schemes(), two));
  put("lab", lab::loss_by_rate(lab::analyse(docs::read_lab())));
  docs::draw_performance(folder);
  docs::draw_live_figures(folder);
  kit::replace_file(folder / "figure_placement.svg", docs::placement_figure());
  put("figure_schedule", docs::schedule_figure(GRADUS_SCHEDULE_TRIES));
  kit::replace_file(folder / "placements.svg", docs::placement_drawings());
  kit::replace_file(folder / "models.svg", docs::model_drawings());
  if (const auto curves = docs::translation_curves(GRADUS_TRANSLATE_LOGS)) put("translate_curves", *curves);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_pictures FOLDER\n");
    return 2;
  }
  draw_all(argv[1]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "draw_pictures: %s\n", error.what());
  return 1;
}
