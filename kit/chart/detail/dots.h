#pragma once
// A picture made of characters: Braille characters with two by four dots each, or one character per dot.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/kit/chart/detail/clip.h"

namespace gradus::kit {

class Dots {
 public:
  Dots(int columns, int rows, bool braille);

  /// The rectangle of the dots: their centres have integer coordinates, from the upper left corner.
  Box box() const;
  int column_of(double x) const;  // of characters
  int row_of(double y) const;

  /// Draws the dots of a segment inside the picture; without Braille, with the character `ink`.
  void segment(Point a, Point b, char32_t ink);
  /// Puts a character over the dots; ignores a point outside.
  void put(Point p, char32_t character);
  /// Puts a character under the dots.
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
