#pragma once
// Writes SVG: escaped text, short numbers, and estimates of text widths.

#include <string>
#include <string_view>
#include <vector>

namespace gradus::kit {

/// Escapes text for XML and HTML, in content and in quoted attributes. Control characters that XML forbids
/// and bytes that are not UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// A coordinate with at most one decimal: "12.5", "3", "-.4".
std::string coordinate(double value);

/// An estimate of the width of a line of sans-serif text at this size, rather too wide.
double text_width(std::string_view utf8, double size);

/// Breaks the text into lines no wider than `width` at spaces, or within a wider word. For bold text, pass a
/// size larger by a tenth.
std::vector<std::string> wrapped(std::string_view utf8, double size, double width);

/// The "d" attribute of a path, with relative moves in tenths, which keep long curves small.
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
  /// A PNG file, stretched to this size; its pixels are squares unless `smooth`.
  void image(double x, double y, double width, double height, std::string_view png, bool smooth);
  void begin_group(std::string_view css);
  void end_group();

  /// Returns the whole <svg> element, which scales to the available width; screen readers read `title` and
  /// `description`.
  std::string finish(double width, double height, std::string_view title, std::string_view description) const;

 private:
  std::string body_;
};

}  // namespace gradus::kit
