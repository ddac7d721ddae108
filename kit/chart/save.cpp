#include "gradus/core/check.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/report/html_report.h"

namespace gradus::kit {
namespace {

template <class Chart>
void save_chart(const char* kind, const Chart& chart, const std::string& path) {
  if (path.ends_with(".svg")) return replace_file(path, svg_file(draw(chart)));
  check(path.ends_with(".html"),
        "{} \"{}\": cannot save \"{}\": expects a name that ends in .svg or .html; "
        "browsers and programs such as Inkscape convert .svg to other formats",
        kind, chart.title, path);
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

}  // namespace gradus::kit
