#pragma once
// The page of a study under way, for the files that write its parts.

#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/report/html_report.h"

namespace gradus::lab {

struct Page {
  kit::HtmlReport html;
  std::vector<std::pair<std::string, std::string>> plots = {};  // file name and content
  std::vector<std::pair<std::string, std::string>> files = {};  // other files next to the page
  struct Caption {
    std::string title, text;
  };
  std::vector<Caption> captions = {};  // of the plots, in their order

  /// Adds a chart to the page and as a separate file; does nothing if there is nothing to draw yet.
  template <class Chart>
  void figure(const std::string& name, const Chart& chart, const std::string& caption) {
    if constexpr (requires { chart.panels; }) {
      if (chart.panels.empty()) return;
    } else if constexpr (requires { chart.series; }) {
      if (chart.series.empty()) return;
    }
    html.figure(chart, caption);
    plots.emplace_back(name + ".svg", kit::svg_file(kit::draw(chart)));
    captions.push_back({chart.title, caption});
  }

  /// The last section of every study.
  void limits(const std::vector<std::string>& items) {
    html.heading("What this does not show");
    html.list(items);
  }
};

}  // namespace gradus::lab
