#pragma once
// The report under way, for the files that write its parts.

#include "gradus/kit/report/html_report.h"
#include "lab/analysis/analysis.h"

namespace gradus::lab {

struct Page {
  kit::HtmlReport html;
  std::vector<std::pair<std::string, std::string>> plots = {};  // file name and content
  struct Caption {
    std::string title, text;
  };
  std::vector<Caption> captions = {};  // of the plots, in their order

  /// A chart on the page and as a file of its own.
  template <class Chart>
  void figure(const std::string& name, const Chart& chart, const std::string& caption) {
    html.figure(chart, caption);
    plots.emplace_back(name + ".svg", kit::svg_file(kit::draw(chart)));
    captions.push_back({chart.title, caption});
  }
};

void add_initialisation(Page& page, const Results& results);
void add_training(Page& page, const Analysis& analysis);
void add_ablations(Page& page, const Analysis& analysis);

}  // namespace gradus::lab
