#pragma once
// The figures of the course: figure.cpp in a chapter's folder draws figure.svg next to it.

#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/plot.h"

namespace gradus::docs {

/// The figure of one chapter. Defining it in figure.cpp registers it with draw_pictures:
///
///   const CourseFigure figure(__FILE__, [] { return kit::LineChart{.title = "..."}; });
///
/// The function returns a chart or an SVG file; it may take the chapter's folder in docs/course.
class CourseFigure {
 public:
  template <class F>
  CourseFigure(const char* source, F drawing)
      : folder_(GRADUS_COURSE / std::filesystem::path(source).parent_path().filename()) {
    draw_ = [drawing]([[maybe_unused]] const std::filesystem::path& folder) {
      if constexpr (std::is_invocable_v<F>)
        return svg(drawing());
      else
        return svg(drawing(folder));
    };
    all().push_back(this);
  }
  CourseFigure(const CourseFigure&) = delete;

  std::string chapter() const { return folder_.filename().string(); }
  std::string draw() const { return draw_(folder_); }

  static std::vector<const CourseFigure*>& all() {
    static std::vector<const CourseFigure*> figures;
    return figures;
  }

 private:
  static std::string svg(const std::string& file) { return file; }
  template <class Chart>
  static std::string svg(const Chart& chart) {
    return kit::svg_file(kit::draw(chart));
  }

  std::filesystem::path folder_;
  std::function<std::string(const std::filesystem::path&)> draw_;
};

}  // namespace gradus::docs
