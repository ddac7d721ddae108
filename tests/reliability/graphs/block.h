#pragma once
// What the interpreter's ops compute with: numbers in row-major order under a shape. No strides, no memory.

#include <vector>

#include "gradus/core/dtype.h"
#include "gradus/core/shape.h"
#include "reliability/graphs/scalar.h"

namespace gradus::test::graphs {

using Index = std::vector<std::int64_t>;

struct Block {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<Scalar> numbers = {};

  Scalar operator[](std::size_t i) const { return numbers[i]; }
  std::size_t size() const { return numbers.size(); }
  int dim() const { return shape.size(); }
};
using Blocks = std::vector<Block>;
using Line = std::vector<Scalar>;

/// The indices of a shape in row-major order.
std::vector<Index> indices_of(const Shape& shape);
/// The place of an index in row-major order.
std::size_t place_of(const Shape& shape, const Index& index);
/// The number at an index of a shape that x broadcasts to.
Scalar number_at(const Block& x, const Index& index);
/// A block whose number at each index is f(index).
template <class F>
Block made(const Shape& shape, DType dtype, F f) {
  Block y{shape, dtype};
  for (const Index& index : indices_of(shape)) y.numbers.push_back(f(index));
  return y;
}
Shape broadcast(const Shape& a, const Shape& b);
/// Axes counted from the front; none means all.
std::vector<int> axes_of(const std::vector<std::int64_t>& axes, int rank);
int axis_of(std::int64_t axis, int rank);

/// f(a, b) of two blocks that broadcast.
template <class F>
Block broadcasted(const Block& a, const Block& b, DType dtype, F f) {
  return made(broadcast(a.shape, b.shape), dtype,
              [&](const Index& i) { return f(number_at(a, i), number_at(b, i)); });
}
template <class F>
Block each(const Block& x, F f) {
  Block y{x.shape, x.dtype};
  for (const Scalar number : x.numbers) y.numbers.push_back(f(number));
  return y;
}
/// f(line) of the numbers that differ only along the axes.
template <class F>
Block reduced(const Block& x, const std::vector<std::int64_t>& axes, bool keepdim, F f) {
  const std::vector<int> which = axes_of(axes, x.dim());
  Shape kept = x.shape, shape;
  for (const int axis : which) kept[axis] = 1;
  std::vector<bool> gone(static_cast<std::size_t>(x.dim()));
  for (const int axis : which) gone[static_cast<std::size_t>(axis)] = true;
  for (int axis = 0; axis < x.dim(); ++axis)
    if (keepdim || !gone[static_cast<std::size_t>(axis)]) shape.push_back(kept[axis]);
  std::vector<Line> lines(indices_of(kept).size());
  for (Index index : indices_of(x.shape)) {
    const Scalar number = x[place_of(x.shape, index)];
    for (const int axis : which) index[static_cast<std::size_t>(axis)] = 0;
    lines[place_of(kept, index)].push_back(number);
  }
  Block y{shape, x.dtype};
  for (const Line& line : lines) y.numbers.push_back(f(line));
  return y;
}
/// Every line along the axis replaced by f(line), which may have another length.
template <class F>
Block along(const Block& x, std::int64_t axis, F f) {
  const int at = axis_of(axis, x.dim());
  Shape one = x.shape;
  one[at] = 1;
  Shape shape = x.shape;
  std::vector<Line> lines;
  for (Index index : indices_of(one)) {
    Line line;
    for (index[static_cast<std::size_t>(at)] = 0; index[static_cast<std::size_t>(at)] < x.shape[at];
         ++index[static_cast<std::size_t>(at)])
      line.push_back(x[place_of(x.shape, index)]);
    lines.push_back(f(line));
  }
  shape[at] =
      lines.empty()
          ? static_cast<std::int64_t>(f(Line(static_cast<std::size_t>(shape[at]), constant(0))).size())
          : static_cast<std::int64_t>(lines[0].size());
  return made(shape, x.dtype, [&](Index index) {
    const auto j = static_cast<std::size_t>(index[static_cast<std::size_t>(at)]);
    index[static_cast<std::size_t>(at)] = 0;
    return lines[place_of(one, index)][j];
  });
}

Scalar sum(const Line& line);
/// The largest of a line, of which there must be one; equal ones share the gradient evenly.
Scalar largest(const Line& line);
/// The place of the first largest.
std::size_t first_largest(const Line& line);
inline std::size_t sz(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace gradus::test::graphs
