#pragma once
// Drawings of blocks: boxes, arrows and sums, as SVG in the style of the other pictures.

#include <string>
#include <string_view>
#include <vector>

namespace gradus::docs {

enum class Ink {
  plain,
  blue,
  orange
};  // a line or box; a stream or norm off it; a norm on a stream or a gradient

/// A picture under way; y grows downwards.
class Drawing {
 public:
  void text(double x, double y, std::string_view words, std::string_view style = "");
  void line(std::string_view path, Ink ink = Ink::plain);
  /// The point of an arrow at (x, y): up, down, left or right.
  void tip(double x, double y, char to, Ink ink = Ink::plain);
  /// A line straight up from y0 to y1, with a point.
  void arrow_up(double x, double y0, double y1, Ink ink = Ink::plain);
  /// Centred at (x, y).
  void box(double x, double y, double width, std::string_view words, Ink ink = Ink::plain);
  void sum(double x, double y);
  /// A cell of a table, from its upper left corner; the styles are those of drawing.cpp.
  void rect(double x, double y, double width, double height, std::string_view style);
  /// Strokes over a cell, so that it is told from the others without colour.
  void hatch(double x, double y, double width, double height, Ink ink);
  /// The whole file.
  std::string svg(int width, int height, std::string_view title, std::string_view description) const;

 private:
  std::string body_;
};

struct Box {
  std::string words;
  Ink ink = Ink::plain;
};

/// How one branch joins the stream, all from below to above.
struct Joint {
  std::vector<Box> branch;      // on the branch
  std::string shortcut = {};    // a number on the stream beside it
  std::vector<Box> after = {};  // on the stream, after the sum
  std::string label = {};       // of the stream above
};

/// Draws joints one above the other on a stream that enters at (x, bottom) and leaves at `top`, or above that
/// where there are many, with boxes of this width on the branch. The stream is blue where nothing stands on
/// it. Returns the height of each sum.
std::vector<double> draw_joints(Drawing& drawing, double x, double bottom, double top, double width,
                                const std::vector<Joint>& joints);

/// placements.svg: every placement of the library. Throws at one that has no drawing here.
std::string placement_drawings();
/// models.svg: the blocks of the models.
std::string model_drawings();

}  // namespace gradus::docs
