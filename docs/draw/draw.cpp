// Draws the charts of the documentation: draw_pictures DOCS. They are written to DOCS/pictures, and those of
// chapters to DOCS/course/NN_name/figure.svg. Diagrams (the tape, attention, ...) are drawn by hand, except
// those of blocks (drawing.h).

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "docs/draw/course_figure.h"
#include "docs/draw/drawing.h"
#include "docs/draw/lab_figures.h"
#include "docs/draw/live_figures.h"
#include "docs/draw/performance.h"
#include "docs/draw/ranks.h"
#include "docs/draw/training_figures.h"
#include "docs/draw/translate_curves.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/compare/report/charts.h"
#include "lab/studies/compare/start.h"

namespace {

using namespace gradus;

/// Parameters of a model of char_gpt's size, by part.
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

void draw_chapters(const std::filesystem::path& course) {
  for (const docs::CourseFigure* figure : docs::CourseFigure::all()) {
    std::filesystem::create_directories(course / figure->chapter());
    kit::replace_file(course / figure->chapter() / "figure.svg", figure->draw());
  }
}

void draw_pictures(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto put = [&](const char* name, const auto& chart) {
    kit::replace_file(folder / (std::string(name) + ".svg"), kit::svg_file(kit::draw(chart)));
  };
  put("kit_bars", parameters());
  put("trap", docs::trap_chart(docs::measure_trap()));
  const lab::compare::Placements two{nn::pre_ln(), nn::post_ln()};
  const lab::compare::Initialisation start = lab::compare::measure_initialisation(two);
  put("lab_top_gradient", lab::compare::top_gradient_chart(start, two));  // as in the lab's report
  put("lab_norms", lab::compare::norm_chart(start, two));
  put("lab_gradients", lab::compare::gradient_panels(start, two, true));
  put("lab_activation_gradients", lab::compare::gradient_panels(start, two, false));
  put("lab_schemes", lab::compare::scheme_panels(start.schemes, two));
  put("lab", lab::compare::loss_by_rate(docs::analyse_lab()));
  docs::draw_performance(folder);
  docs::draw_ranks(folder);
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
    std::fprintf(stderr, "usage: draw_pictures DOCS\n");
    return 2;
  }
  const DefaultDType guard(f64);
  const std::filesystem::path docs = argv[1];
  draw_chapters(docs / "course");
  draw_pictures(docs / "pictures");
} catch (const std::exception& error) {
  std::fprintf(stderr, "draw_pictures: %s\n", error.what());
  return 1;
}
