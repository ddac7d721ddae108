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
};  // a line or box; a stream, or a norm on a branch; a norm on a stream, or a gradient

/// A picture being drawn; y grows downwards.
class Drawing {
 public:
  void text(double x, double y, std::string_view words, std::string_view style = "");
  void line(std::string_view path, Ink ink = Ink::plain);
  /// The tip of an arrow at (x, y): up, down, left or right.
  void tip(double x, double y, char to, Ink ink = Ink::plain);
  /// A vertical arrow from y0 up to y1.
  void arrow_up(double x, double y0, double y1, Ink ink = Ink::plain);
  /// Centred at (x, y).
  void box(double x, double y, double width, std::string_view words, Ink ink = Ink::plain);
  void sum(double x, double y);
  /// A cell of a table, from its upper left corner; the styles are those of drawing.cpp.
  void rect(double x, double y, double width, double height, std::string_view style);
  /// Hatches a cell, so that it can be distinguished from the others without colour.
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

/// How one branch joins the stream, from bottom to top.
struct Joint {
  std::vector<Box> branch;      // on the branch
  std::string shortcut = {};    // a factor on the stream
  std::vector<Box> after = {};  // on the stream, after the sum
  std::string label = {};       // of the stream above
};

/// Draws joints one above the other on a stream that enters at (x, bottom) and leaves at `top`, or above that
/// if there are many, with boxes of this width on the branch. The stream is blue where there is no box on it.
/// Returns the height of each sum.
std::vector<double> draw_joints(Drawing& drawing, double x, double bottom, double top, double width,
                                const std::vector<Joint>& joints);

/// placements.svg: every placement of the library. Throws if one has no drawing here.
std::string placement_drawings();
/// models.svg: the blocks of the models.
std::string model_drawings();

}  // namespace gradus::docs
