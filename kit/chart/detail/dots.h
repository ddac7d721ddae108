#pragma once
// A small picture made of characters: dots of Braille, two by four in each, or one character for each dot.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/kit/chart/detail/clip.h"

namespace gradus::kit {

class Dots {
 public:
  Dots(int columns, int rows, bool braille);

  /// The dots: their centres have whole coordinates, from the upper left corner.
  Box box() const;
  int column_of(double x) const;  // of characters
  int row_of(double y) const;

  /// The dots of a segment inside the picture. `ink` draws them where there is no Braille.
  void segment(Point a, Point b, char32_t ink);
  /// A character in the place of the dots there; none for a point outside.
  void put(Point p, char32_t character);
  /// A character under the dots.
  void put_under(int column, int row, char32_t character);
  std::u32string row(int row) const;

 private:
  std::size_t at(int column, int row) const;
  void dot(double x, double y, char32_t ink);

  int columns_, rows_;
  int across_, down_;  // dots in a character
  std::vector<std::uint8_t> dots_;
  std::vector<char32_t> over_, under_;
};

}  // namespace gradus::kit
