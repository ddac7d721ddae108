// Ops that put numbers in order, and count places.

#include <algorithm>
#include <numeric>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Drawing full_axis() {
  return [](Draw& draw, Step& p) {
    draw.add(p, {.rank = 1, .empty = false});
    p.axis = draw.any_axis(draw.shape(p, 0).size());
    p.n = draw.below(draw.shape(p, 0)[axis_of(p.axis, draw.shape(p, 0).size())] + 1);
    p.keep = draw.chance(0.4);
    p.flag = draw.chance(0.5);
    return true;
  };
}

Line negated(const Line& line) {
  Line y;
  for (const Scalar number : line) y.push_back(-number);
  return y;
}

/// The places of a line in order; equal ones keep theirs.
std::vector<std::size_t> order_of(const Line& line, bool descending) {
  std::vector<std::size_t> places(line.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return descending ? compare(line[a], line[b]) > 0 : compare(line[a], line[b]) < 0;
  });
  return places;
}

/// The first k of each line in order, and their places.
Blocks in_order(const Step& p, const Block& x, bool descending, std::size_t k) {
  const auto take = [&](bool values) {
    return along(x, p.axis, [&](const Line& line) {
      Line y;
      for (const std::size_t place : order_of(line, descending)) {
        if (y.size() == k) break;
        y.push_back(values ? line[place] : constant(static_cast<double>(place)));
      }
      return y;
    });
  };
  Block places = take(false);
  places.dtype = i64;
  return {take(true), places};
}

Blocks with_indices(const Step& p, const Block& x, bool most) {
  const auto place = [&](const Line& line) { return first_largest(most ? line : negated(line)); };
  Block places = reduced(x, {p.axis}, p.keep,
                         [&](const Line& line) { return constant(static_cast<double>(place(line))); });
  places.dtype = i64;
  return {reduced(x, {p.axis}, p.keep, [&](const Line& line) { return line[place(line)]; }), places};
}

Blocks place_in_all(const Step&, const Blocks& x) {
  return {{Shape{}, i64, {constant(static_cast<double>(first_largest(x[0].numbers)))}}};
}

}  // namespace

std::vector<OpCase> order_cases() {
  return {
      {"max_with_indices", full_axis(), GRADUS_CALL(max_with_indices(x[0], p.axis, p.keep)),
       [](const Step& p, const Blocks& x) { return with_indices(p, x[0], true); }},
      {"min_with_indices", full_axis(), GRADUS_CALL(min_with_indices(x[0], p.axis, p.keep)),
       [](const Step& p, const Blocks& x) { return with_indices(p, x[0], false); }},
      {"argmax", full_axis(), GRADUS_CALL(argmax(x[0], p.axis, p.keep)),
       [](const Step& p, const Blocks& x) -> Blocks { return {with_indices(p, x[0], true)[1]}; }},
      {"argmin", full_axis(), GRADUS_CALL(argmin(x[0], p.axis, p.keep)),
       [](const Step& p, const Blocks& x) -> Blocks { return {with_indices(p, x[0], false)[1]}; }},
      {"argmax", full_axis(), GRADUS_CALL(argmax(x[0])), place_in_all},
      {"sort", full_axis(), GRADUS_CALL(sort(x[0], p.axis, p.flag)),
       [](const Step& p, const Blocks& x) { return in_order(p, x[0], p.flag, 1000); }},
      {"topk", full_axis(), GRADUS_CALL(topk(x[0], p.n, p.axis)),
       [](const Step& p, const Blocks& x) { return in_order(p, x[0], true, sz(p.n)); }},
      {"nonzero", one({.rank = 1, .floating = false}), GRADUS_CALL(nonzero(x[0])),
       [](const Step&, const Blocks& x) -> Blocks {
         Block y{{0, x[0].dim()}, i64};
         for (const Index& index : indices_of(x[0].shape)) {
           if (value_of(x[0][place_of(x[0].shape, index)]) == 0) continue;
           ++y.shape[0];
           for (const std::int64_t i : index) y.numbers.push_back(constant(static_cast<double>(i)));
         }
         return {y};
       }},
  };
}

}  // namespace gradus::test::graphs
