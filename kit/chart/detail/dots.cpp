#include "gradus/kit/chart/detail/dots.h"

namespace gradus::kit {

Dots::Dots(int columns, int rows, bool braille)
    : columns_(columns), rows_(rows), across_(braille ? 2 : 1), down_(braille ? 4 : 1) {
  const auto cells = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  dots_.resize(cells), over_.resize(cells), under_.resize(cells);
}

Box Dots::box() const {
  return {0, 0, static_cast<double>(columns_ * across_ - 1), static_cast<double>(rows_ * down_ - 1)};
}

int Dots::column_of(double x) const { return static_cast<int>(std::lround(x)) / across_; }
int Dots::row_of(double y) const { return static_cast<int>(std::lround(y)) / down_; }

std::size_t Dots::at(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
         static_cast<std::size_t>(column);
}

void Dots::dot(double x, double y, char32_t ink) {
  // Bits of U+2800 and up: 1, 2, 4 and 64 in the left column, 8, 16, 32 and 128 in the right.
  constexpr std::uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  const auto column = static_cast<int>(std::lround(x));
  const auto row = static_cast<int>(std::lround(y));
  const std::size_t cell = at(column / across_, row / down_);
  if (across_ == 1) over_[cell] = ink;
  dots_[cell] |= bits[row % down_][column % across_];
}

void Dots::segment(Point a, Point b, char32_t ink) {
  const auto part = drawable(a) && drawable(b) ? clipped(box(), a, b) : std::nullopt;
  if (!part) return;
  const auto [from, to] = *part;
  const double steps = std::max(1.0, std::ceil(std::max(std::abs(to.x - from.x), std::abs(to.y - from.y))));
  // Rounding may exceed the edges slightly.
  const Box edges = box();
  for (double step = 0; step <= steps; ++step) {
    const double share = step / steps;
    dot(std::clamp(from.x + share * (to.x - from.x), edges.left, edges.right),
        std::clamp(from.y + share * (to.y - from.y), edges.top, edges.bottom), ink);
  }
}

void Dots::put(Point p, char32_t character) {
  const Box edges = box();
  const bool inside = p.x >= edges.left - 0.5 && p.x <= edges.right + 0.5 && p.y >= edges.top - 0.5 &&
                      p.y <= edges.bottom + 0.5;  // false for NaN
  if (!inside) return;
  over_[at(column_of(std::clamp(p.x, edges.left, edges.right)),
           row_of(std::clamp(p.y, edges.top, edges.bottom)))] = character;
}

void Dots::put_under(int column, int row, char32_t character) { under_[at(column, row)] = character; }

std::u32string Dots::row(int row) const {
  std::u32string text;
  for (int column = 0; column < columns_; ++column) {
    const std::size_t cell = at(column, row);
    const char32_t under = under_[cell] != 0 ? under_[cell] : U' ';
    text += over_[cell] != 0 ? over_[cell] : dots_[cell] != 0 ? char32_t{0x2800} + dots_[cell] : under;
  }
  return text;
}

}  // namespace gradus::kit
