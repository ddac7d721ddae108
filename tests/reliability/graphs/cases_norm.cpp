// Normalizations.

#include <cmath>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Drawing with_parameters(std::size_t count) {
  return [count](Draw& draw, Step& p) {
    draw.add(p, {.low = -8, .high = 8, .rank = 1, .empty = false});
    const Shape row{draw.shape(p, 0).back()};
    while (p.inputs.size() < 1 + count) draw.add_like(p, row, draw.value(p.inputs[0]).dtype);
    p.axis = -1;
    return true;
  };
}

/// f(line) for every row, then times weight, plus bias.
template <class F>
Blocks by_row(const Blocks& x, F f) {
  Block y = along(x[0], -1, f);
  if (x.size() > 1) y = broadcasted(y, x[1], y.dtype, [](Scalar a, Scalar w) { return a * w; });
  if (x.size() > 2) y = broadcasted(y, x[2], y.dtype, [](Scalar a, Scalar b) { return a + b; });
  return {y};
}

Line centred(const Line& line) {
  const Scalar mean = sum(line) / static_cast<double>(line.size());
  Line d, squares;
  for (const Scalar number : line) d.push_back(number - mean);
  for (const Scalar number : d) squares.push_back(number * number);
  const Scalar factor = power(sum(squares) / static_cast<double>(line.size()) + 0.01, -0.5);
  for (Scalar& number : d) number = number * factor;
  return d;
}

Line scaled(const Line& line) {
  Line y, squares;
  for (const Scalar number : line) squares.push_back(number * number);
  const Scalar factor = power(sum(squares) / static_cast<double>(line.size()) + 0.01, -0.5);
  for (const Scalar number : line) y.push_back(number * factor);
  return y;
}

Scalar length(const Line& line, double order) {
  Line sizes;
  for (const Scalar number : line) sizes.push_back(order == 2 ? number * number : absolute(number));
  if (order == 2) return value_of(sum(sizes)) == 0 ? constant(0) : sqrt(sum(sizes));
  return order == 1 ? sum(sizes) : largest(sizes);
}

Line unit(const Line& line, double order) {
  const Scalar size = length(line, order);
  const Scalar by = compare(size, 0.125) < 0 ? constant(0.125) : size;
  Line y;
  for (const Scalar number : line) y.push_back(number / by);
  return y;
}

Drawing on_any_axis(bool two) {
  return [two](Draw& draw, Step& p) {
    draw.add(p, {.low = -8, .high = 8, .rank = 1, .empty = false});
    if (two) draw.add_operand(p, {.low = -8, .high = 8, .empty = false});
    p.axis = draw.any_axis(draw.shape(p, 0).size());
    if (two)
      p.axis =
          axis_of(p.axis, draw.shape(p, 0).size()) - broadcast(draw.shape(p, 0), draw.shape(p, 1)).size();
    if (two && broadcast(draw.shape(p, 0), draw.shape(p, 1)) != draw.shape(p, 0)) return false;
    return true;
  };
}

}  // namespace

std::vector<OpCase> norm_cases() {
  const auto layer = [](const Step&, const Blocks& x) { return by_row(x, centred); };
  const auto rms = [](const Step&, const Blocks& x) { return by_row(x, scaled); };
  const auto of_order = [](double order) {
    return [order](const Step& p, const Blocks& x) -> Blocks {
      return {along(x[0], p.axis, [&](const Line& line) { return unit(line, order); })};
    };
  };
  return {
      {"layer_norm", with_parameters(0), GRADUS_CALL(layer_norm(x[0], {}, {}, 0.01)), layer, "x0~"},
      {"layer_norm", with_parameters(1), GRADUS_CALL(layer_norm(x[0], x[1], {}, 0.01)), layer,
       "x0~ x1~/0 x1?"},
      {"layer_norm", with_parameters(2), GRADUS_CALL(layer_norm(x[0], x[1], x[2], 0.01)), layer,
       "x0~ x1~/0 x1?"},
      {"rms_norm", with_parameters(0), GRADUS_CALL(rms_norm(x[0], {}, 0.01)), rms, "x0~"},
      {"rms_norm", with_parameters(1), GRADUS_CALL(rms_norm(x[0], x[1], 0.01)), rms, "x0~ x1~/0 x1?"},
      {"normalize", on_any_axis(false), GRADUS_CALL(normalize(x[0], 2, p.axis, 0.125)), of_order(2),
       "x0? y?"},
      {"normalize", on_any_axis(false), GRADUS_CALL(normalize(x[0], 1, p.axis, 0.125)), of_order(1),
       "x0? y?"},
      {"normalize", on_any_axis(false), GRADUS_CALL(normalize(x[0], INFINITY, p.axis, 0.125)),
       of_order(INFINITY), "x0? y?"},
      {"cosine_similarity", on_any_axis(true), GRADUS_CALL(cosine_similarity(x[0], x[1], p.axis, 0.125)),
       [](const Step& p, const Blocks& x) -> Blocks {
         const Shape shape = broadcast(x[0].shape, x[1].shape);
         const auto whole = [&](const Block& b) {
           const Block wide = made(shape, b.dtype, [&](const Index& i) { return number_at(b, i); });
           return along(wide, p.axis, [](const Line& line) { return unit(line, 2); });
         };
         const Block products =
             broadcasted(whole(x[0]), whole(x[1]), x[0].dtype, [](Scalar a, Scalar b) { return a * b; });
         return {reduced(products, {p.axis}, false, [](const Line& line) { return sum(line); })};
       },
       "x0? x1?"},
  };
}

}  // namespace gradus::test::graphs
