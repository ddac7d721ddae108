#include "reliability/graphs/block.h"

#include <algorithm>

namespace gradus::test::graphs {

std::vector<Index> indices_of(const Shape& shape) {
  std::vector<Index> all;
  Index index(static_cast<std::size_t>(shape.size()), 0);
  for (const std::int64_t size : shape)
    if (size == 0) return all;
  for (;;) {
    all.push_back(index);
    int axis = shape.size() - 1;
    for (; axis >= 0; --axis) {
      if (++index[sz(axis)] < shape[axis]) break;
      index[sz(axis)] = 0;
    }
    if (axis < 0) return all;
  }
}

std::size_t place_of(const Shape& shape, const Index& index) {
  std::int64_t place = 0;
  for (int axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + index[sz(axis)];
  return sz(place);
}

Scalar number_at(const Block& x, const Index& index) {
  Index own(index.end() - x.dim(), index.end());
  for (int axis = 0; axis < x.dim(); ++axis)
    if (x.shape[axis] == 1) own[sz(axis)] = 0;
  return x[place_of(x.shape, own)];
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape y = a.size() > b.size() ? a : b;
  const Shape& other = a.size() > b.size() ? b : a;
  for (int axis = 0; axis < other.size(); ++axis) {
    std::int64_t& size = y[y.size() - other.size() + axis];
    if (size == 1) size = other[axis];
  }
  return y;
}

int axis_of(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

std::vector<int> axes_of(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<int> all;
  for (const std::int64_t axis : axes) all.push_back(axis_of(axis, rank));
  if (all.empty())
    for (int axis = 0; axis < rank; ++axis) all.push_back(axis);
  return all;
}

Scalar sum(const Line& line) {
  Scalar total = constant(0);
  for (const Scalar number : line)
    total = line.size() > 2 ? tape().partial_sum(total, number) : total + number;
  return total;
}

std::size_t first_largest(const Line& line) {
  if (line.empty()) throw Unstable{"the largest of nothing"};
  std::size_t best = 0;
  for (std::size_t i = 1; i < line.size(); ++i)
    if (compare(line[i], line[best]) > 0) best = i;
  return best;
}

Scalar largest(const Line& line) {
  const Scalar best = line[first_largest(line)];
  Line equal;
  for (const Scalar number : line)
    if (compare(number, best) == 0) equal.push_back(number);
  return equal.size() == 1 ? best : sum(equal) / static_cast<double>(equal.size());
}

}  // namespace gradus::test::graphs
