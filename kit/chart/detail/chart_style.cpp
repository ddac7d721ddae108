#include "gradus/kit/chart/detail/chart_style.h"

#include <array>
#include <cmath>
#include <numbers>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {
namespace {

using Outline = std::vector<std::array<double, 2>>;

Outline polygon(int corners, double turn, double inner = 1) {
  Outline outline;
  for (int i = 0; i < corners; ++i) {
    const double radius = i % 2 == 0 ? 1 : inner;
    const double angle = turn + 2 * std::numbers::pi * i / corners;
    outline.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  return outline;
}

// Unit outlines of about equal weight.
const Outline& outline_of(int style) {
  constexpr double up = -std::numbers::pi / 2;
  constexpr double eighth = std::numbers::pi / 4;
  static const std::array<Outline, chart_styles> outlines = {
      polygon(12, 0),            // disc
      polygon(4, eighth, 1),     // square
      polygon(3, up),            // triangle
      polygon(4, 0),             // diamond
      polygon(3, -up),           // triangle pointing down
      polygon(10, up, 0.42),     // star
      polygon(8, 0, 0.35),       // plus with pointed arms
      polygon(8, eighth, 0.35),  // the same rotated: a cross
  };
  return outlines[static_cast<std::size_t>(style)];
}

constexpr std::array<double, chart_styles> marker_scale = {0.95, 1.15, 1.3, 1.25, 1.3, 1.4, 1.4, 1.4};

constexpr std::array<const char*, chart_styles> dash_patterns = {
    "", "7 3.5", "2 2.5", "9 3 2 3", "13 4", "4.5 2.5 1.5 2.5 1.5 2.5", "4 4", "1.5 4"};

// Hues after Okabe and Ito's colour-blind-safe set, with an indigo and a red, darkened (light mode) or
// lightened (dark mode) to a contrast of at least 4.5 to 1 with the background.
constexpr std::array<const char*, chart_styles> light = {"#0065a3", "#b84a00", "#007a59", "#9c3d7c",
                                                         "#7d6200", "#3b3b98", "#8c1d18", "#4d4d4d"};
constexpr std::array<const char*, chart_styles> dark = {"#62b6f0", "#ff9654", "#3fcf9f", "#eb94c8",
                                                        "#e3c04a", "#a9a9ff", "#ff8a80", "#c4c4c4"};

std::string variables(const char* ink, const char* soft, const char* grid, const char* paper,
                      const char* heat, const std::array<const char*, chart_styles>& colours) {
  std::string text = std::string("--gc-ink:") + ink + ";--gc-soft:" + soft + ";--gc-grid:" + grid +
                     ";--gc-paper:" + paper + ";--gc-heat:" + heat;
  for (std::size_t i = 0; i < colours.size(); ++i) text += ";--gc-" + std::to_string(i) + ":" + colours[i];
  return text;
}

// Each property twice: programs without support for variables use the first.
std::string twice(const std::string& property, const std::string& plain, const std::string& variable) {
  return property + ":" + plain + ";" + property + ":var(" + variable + ")";
}

}  // namespace

std::string style_class(int style) { return "c" + std::to_string(style); }

std::string dashes(int style) {
  const std::string pattern = dash_patterns[static_cast<std::size_t>(style)];
  return pattern.empty() ? "" : "stroke-dasharray=\"" + pattern + "\"";
}

void add_marker(PathData& path, int style, double x, double y, double radius) {
  const double size = radius * marker_scale[static_cast<std::size_t>(style)];
  bool first = true;
  for (const auto& [dx, dy] : outline_of(style)) {
    first ? path.move_to(x + size * dx, y + size * dy) : path.line_to(x + size * dx, y + size * dy);
    first = false;
  }
  path.close();
}

std::string chart_style() {
  const std::string chart = ".gradus-chart";
  const std::string day = variables("#1c1d20", "#55595f", "#e2e4e8", "#ffffff", "#3f86d0", light);
  const std::string night = variables("#e8e8e6", "#a9adb3", "#3a3e45", "#17191d", "#4f97e0", dark);
  std::string css =
      chart + "{" + day + ";display:block;max-width:100%;height:auto;" +
      "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}";
  css += "@media screen and (prefers-color-scheme:dark){" + chart + "{" + night + "}}";
  const auto rule = [&](const std::string& name, const std::string& body) {
    css += chart + " " + name + "{" + body + "}";
  };
  rule("text", "font-size:12.5px;" + twice("fill", "#1c1d20", "--gc-ink"));
  rule(".title", "font-size:15px;font-weight:600");
  rule(".head", "font-weight:600");
  rule(".soft", twice("fill", "#55595f", "--gc-soft"));
  rule(".grid", "stroke-width:1;" + twice("stroke", "#e2e4e8", "--gc-grid"));
  rule(".axis", "stroke-width:1;fill:none;" + twice("stroke", "#55595f", "--gc-soft"));
  rule(".ref", "stroke-width:1.3;stroke-dasharray:1 3;stroke-linecap:round;" +
                   twice("stroke", "#1c1d20", "--gc-ink"));
  rule(".halo", "paint-order:stroke;stroke-width:3.5px;stroke-linejoin:round;" +
                    twice("stroke", "#ffffff", "--gc-paper"));
  rule(".paper", twice("fill", "#ffffff", "--gc-paper"));
  rule(".heat", twice("fill", "#3f86d0", "--gc-heat"));
  rule(".best", "fill:none;stroke-width:2.5;" + twice("stroke", "#1c1d20", "--gc-ink"));
  rule(".curve", "fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round");
  rule(".band", "fill:currentColor;fill-opacity:.16");
  rule(".bars", "fill:none;stroke:currentColor;stroke-width:1.3");
  rule(".marks", "fill:currentColor;stroke-width:.8;" + twice("stroke", "#ffffff", "--gc-paper"));
  rule(".name", "fill:currentColor;font-weight:600");
  rule(".lead", "stroke:currentColor;stroke-width:.8;fill:none");
  for (std::size_t i = 0; i < light.size(); ++i) {
    rule(".c" + std::to_string(i), twice("color", light[i], "--gc-" + std::to_string(i)));
  }
  return css;
}

std::string svg_file(const std::string& drawing) {
  const std::string box = "viewBox=\"0 0 ";
  const std::size_t numbers = drawing.find(box) + box.size();
  std::size_t width_digits = 0;
  const double width = std::stod(drawing.substr(numbers), &width_digits);
  const double height = std::stod(drawing.substr(numbers + width_digits));
  // Twice the drawing's units is a good default size, for example for <img> in a README.
  const std::string size =
      "width=\"" + coordinate(2 * width) + "\" height=\"" + coordinate(2 * height) + "\" ";
  const std::size_t attributes = drawing.find("viewBox");
  const std::size_t content = drawing.find("</desc>") + std::string("</desc>").size();
  return drawing.substr(0, attributes) + size + drawing.substr(attributes, content - attributes) + "<style>" +
         chart_style() + "</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>" +
         drawing.substr(content) + "\n";
}

}  // namespace gradus::kit
