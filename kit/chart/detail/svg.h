#pragma once
// Writing SVG: escaped text, short numbers, and the width text will take without a font at hand.

#include <string>
#include <string_view>
#include <vector>

namespace gradus::kit {

/// Text made safe for XML and HTML, in content and in quoted attributes. Control characters XML forbids and
/// bytes that are no UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// A coordinate with at most one decimal: "12.5", "3", "-.4".
std::string coordinate(double value);

/// Roughly how wide a line of sans-serif text is at this size; errs on the wide side.
double text_width(std::string_view utf8, double size);

/// The text in lines no wider than `width`, broken at spaces, a wider word anywhere. Bold text: give a tenth
/// more as its size.
std::vector<std::string> wrapped(std::string_view utf8, double size, double width);

/// The "d" of a path, in relative moves of tenths so that long curves stay small.
class PathData {
 public:
  PathData& move_to(double x, double y);
  PathData& line_to(double x, double y);
  PathData& close();
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  void append(char command, double x, double y);
  std::string text_;
  char last_command_ = 0;
  long x_ = 0;  // in tenths
  long y_ = 0;
  long start_x_ = 0;
  long start_y_ = 0;
};

enum class Anchor { start, middle, end };

/// Collects the elements of a drawing. `css` is the class attribute; colours and fonts are the style sheet's.
class Svg {
 public:
  void line(std::string_view css, double x1, double y1, double x2, double y2, std::string_view more = {});
  void rect(std::string_view css, double x, double y, double width, double height,
            std::string_view more = {});
  void path(std::string_view css, const PathData& data, std::string_view more = {});
  void text(std::string_view css, double x, double y, Anchor anchor, std::string_view content);
  void begin_group(std::string_view css);
  void end_group();

  /// The whole <svg> element. It scales to the width it is given; `title` and `description` are read aloud by
  /// screen readers.
  std::string finish(double width, double height, std::string_view title, std::string_view description) const;

 private:
  std::string body_;
};

}  // namespace gradus::kit
