#include "gradus/core/check.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/image_pixels.h"
#include "gradus/kit/chart/image.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/report/html_report.h"

namespace gradus::kit {
namespace {

template <class Chart>
void save_chart(const char* kind, const Chart& chart, const std::string& path,
                const char* endings = ".svg or .html") {
  if (path.ends_with(".svg")) return replace_file(path, svg_file(draw(chart)));
  check(path.ends_with(".html"),
        "{} \"{}\": cannot save \"{}\": expects a name that ends in {}; "
        "browsers and programs such as Inkscape convert .svg to other formats",
        kind, chart.title, path, endings);
  HtmlReport page(chart.title.empty() ? "Chart" : chart.title, "");
  Chart untitled = chart;  // the page shows the title
  untitled.title.clear();
  page.figure(untitled, chart.description);
  page.save(path);
}

}  // namespace

void LineChart::save(const std::string& path) const { save_chart("LineChart", *this, path); }
void Panels::save(const std::string& path) const { save_chart("Panels", *this, path); }
void BarChart::save(const std::string& path) const { save_chart("BarChart", *this, path); }
void HeatMap::save(const std::string& path) const { save_chart("HeatMap", *this, path); }
void Image::save(const std::string& path) const {
  if (path.ends_with(".png")) return replace_file(path, to_png(ImagePixels(*this).grid()));
  save_chart("Image", *this, path, ".png, .svg or .html");
}

}  // namespace gradus::kit
