// Ops on two or three tensors that broadcast, an element at a time.

#include <cmath>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Drawing two(const Wanted& first = {}, const Wanted& second = {}) {
  return [=](Draw& draw, Step& p) {
    draw.add(p, first);
    draw.add_operand(p, second);
    if (draw.chance(0.3)) std::swap(p.inputs[0], p.inputs[1]);
    return true;
  };
}

/// The same where the order counts for the ranges.
Drawing two_in_order(const Wanted& first, const Wanted& second) {
  return [=](Draw& draw, Step& p) {
    draw.add(p, first);
    draw.add_operand(p, second);
    return true;
  };
}

template <class F>
Naive both(F f) {
  return [f](const Step&, const Blocks& x) -> Blocks { return {broadcasted(x[0], x[1], x[0].dtype, f)}; };
}

template <class F>
Naive compares(F f) {
  return [f](const Step&, const Blocks& x) -> Blocks {
    return {broadcasted(x[0], x[1], boolean,
                        [&](Scalar a, Scalar b) { return constant(f(compare(a, b)) ? 1 : 0); })};
  };
}

template <class F>
Naive logic(F f) {
  return [f](const Step&, const Blocks& x) -> Blocks {
    return {broadcasted(x[0], x[1], boolean,
                        [&](Scalar a, Scalar b) { return constant(f(value_of(a) != 0, value_of(b) != 0)); })};
  };
}

Drawing two_masks() {
  return [](Draw& draw, Step& p) {
    draw.add_mask(p, draw.any_shape(0, 3, 24, true));
    draw.add_operand(p);
    return true;
  };
}

/// Integers; the second is not 0.
Drawing two_integers() {
  return [](Draw& draw, Step& p) {
    const Shape shape = draw.any_shape(0, 3, 24, true);
    draw.add_new(p, shape, i64, -9, 9);
    draw.add_new(p, draw.narrowed(shape), i64, 1, 4);
    return true;
  };
}

Scalar remainder_of(Scalar a, Scalar b) { return a - b * floored(a, b); }

bool scalar_compared(Draw& draw, Step& p) {
  draw.add(p, {.floating = false});
  if (draw.value(p.inputs[0]).dtype == boolean) return false;
  p.a = draw.number(-1, 1);
  return true;
}

bool conditioned(Draw& draw, Step& p) {
  Step first;
  draw.add(first);
  draw.add_operand(first);
  const Shape shape = broadcast(draw.shape(first, 0), draw.shape(first, 1));
  draw.add_mask(p, draw.chance(0.5) ? shape : draw.narrowed(shape));
  p.inputs.push_back(first.inputs[0]);
  p.inputs.push_back(first.inputs[1]);
  return true;
}

Block chosen(const Block& c, const Block& a, const Block& b) {
  return made(broadcast(c.shape, broadcast(a.shape, b.shape)), a.dtype, [&](const Index& i) {
    return value_of(number_at(c, i)) != 0 ? number_at(a, i) : number_at(b, i);
  });
}

/// An in-place update of what nobody else holds: on the tape, another tensor.
Tensor updated(const Tensor& x, const Tensor& y) {
  Tensor total = x * 2;
  total += y;
  total *= 3;
  return total;
}

bool added_to(Draw& draw, Step& p) {
  draw.add(p);
  draw.add_like(p, draw.narrowed(draw.shape(p, 0)), draw.value(p.inputs[0]).dtype);
  return true;
}

Block number_block(double value, DType dtype) { return {Shape{}, dtype, {constant(value)}}; }

bool fills(Draw& draw, Step& p) {
  draw.add(p);
  draw.add_mask(p, draw.chance(0.5) ? draw.shape(p, 0) : draw.narrowed(draw.shape(p, 0)));
  p.a = draw.number(-2, 2);
  return true;
}

}  // namespace

std::vector<OpCase> binary_cases() {
  const Wanted divisor{.low = 0.25, .high = 50};
  return {
      {"operator+", two(), GRADUS_CALL(x[0] + x[1]), both([](Scalar a, Scalar b) { return a + b; })},
      {"operator+=", added_to, GRADUS_CALL(updated(x[0], x[1])),
       both([](Scalar a, Scalar b) { return (a * 2.0 + b) * 3.0; })},
      {"operator-", two(), GRADUS_CALL(x[0] - x[1]), both([](Scalar a, Scalar b) { return a - b; })},
      {"operator*", two(), GRADUS_CALL(x[0] * x[1]), both([](Scalar a, Scalar b) { return a * b; }),
       "x0/1 x1/0"},
      {"operator/", two_in_order({}, divisor), GRADUS_CALL(x[0] / x[1]),
       both([](Scalar a, Scalar b) { return a / b; }), "x1 y/1"},
      {"pow", two_in_order({.low = 0.25, .high = 8}, {.low = -3, .high = 3}), GRADUS_CALL(pow(x[0], x[1])),
       both([](Scalar a, Scalar b) { return exp(b * log(a)); }), "x0 x1 y/1"},
      {"maximum", two(), GRADUS_CALL(maximum(x[0], x[1])), both([](Scalar a, Scalar b) {
         return largest({a, b});
       }),
       "x0 x1"},
      {"minimum", two(), GRADUS_CALL(minimum(x[0], x[1])), both([](Scalar a, Scalar b) {
         return -largest({-a, -b});
       }),
       "x0 x1"},
      {"remainder", two_in_order({}, divisor), GRADUS_CALL(remainder(x[0], x[1])), both(remainder_of),
       "x0/1 x1/1"},
      {"operator%", two_in_order({}, divisor), GRADUS_CALL(x[0] % x[1]), both(remainder_of), "x0/1 x1/1"},
      {"floor_divide", two_in_order({}, divisor), GRADUS_CALL(floor_divide(x[0], x[1])), both(floored)},
      {"remainder", two_integers(), GRADUS_CALL(remainder(x[0], x[1])), both(remainder_of)},
      {"floor_divide", two_integers(), GRADUS_CALL(floor_divide(x[0], x[1])), both(floored)},
      {"operator+", two_integers(), GRADUS_CALL(x[0] + x[1]), both([](Scalar a, Scalar b) { return a + b; })},
      {"operator*", two_integers(), GRADUS_CALL(x[0] * x[1]), both([](Scalar a, Scalar b) { return a * b; })},
      {"operator/", two_integers(), GRADUS_CALL(x[0] / x[1]),
       [](const Step&, const Blocks& x) -> Blocks {
         return {broadcasted(x[0], x[1], default_dtype(), [](Scalar a, Scalar b) { return a / b; })};
       }},
      {"operator==", two(), GRADUS_CALL(x[0] == x[1]), compares([](int side) { return side == 0; })},
      {"operator!=", two(), GRADUS_CALL(x[0] != x[1]), compares([](int side) { return side != 0; })},
      {"operator<", two(), GRADUS_CALL(x[0] < x[1]), compares([](int side) { return side < 0; })},
      {"operator<=", two(), GRADUS_CALL(x[0] <= x[1]), compares([](int side) { return side <= 0; })},
      {"operator>", two_integers(), GRADUS_CALL(x[0] > x[1]), compares([](int side) { return side > 0; })},
      {"operator>=", two(), GRADUS_CALL(x[0] >= x[1]), compares([](int side) { return side >= 0; })},
      {"operator<", scalar_compared, GRADUS_CALL(x[0] < p.a),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {broadcasted(x[0], number_block(p.a, f64), boolean,
                             [](Scalar a, Scalar b) { return constant(compare(a, b) < 0); })};
       }},
      {"operator&", two_masks(), GRADUS_CALL(x[0] & x[1]), logic([](bool a, bool b) { return a && b; })},
      {"operator|", two_masks(), GRADUS_CALL(x[0] | x[1]), logic([](bool a, bool b) { return a || b; })},
      {"operator!", two_masks(), GRADUS_CALL(!x[0]),
       [](const Step&, const Blocks& x) -> Blocks {
         return {each(x[0], [](Scalar a) { return constant(value_of(a) == 0); })};
       }},
      {"where", conditioned, GRADUS_CALL(where(x[0], x[1], x[2])),
       [](const Step&, const Blocks& x) -> Blocks { return {chosen(x[0], x[1], x[2])}; }, "x0"},
      {"where", conditioned, GRADUS_CALL(where(x[0], x[1], 0.5) + where(x[0], 2, x[2])),
       [](const Step&, const Blocks& x) -> Blocks {
         return {broadcasted(chosen(x[0], x[1], number_block(0.5, x[1].dtype)),
                             chosen(x[0], number_block(2, x[1].dtype), x[2]), x[1].dtype,
                             [](Scalar a, Scalar b) { return a + b; })};
       },
       "x0"},
      {"masked_fill", fills, GRADUS_CALL(masked_fill(x[0], x[1], p.a)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {chosen(x[1], number_block(p.a, x[0].dtype), x[0])};
       },
       "x1"},
      {"equal", two(), GRADUS_CALL(full({}, equal(x[0], x[1]), boolean)),
       [](const Step&, const Blocks& x) -> Blocks {
         bool same = x[0].shape == x[1].shape;
         for (std::size_t i = 0; same && i < x[0].size(); ++i) same = value_of(x[0][i]) == value_of(x[1][i]);
         return {number_block(same, boolean)};
       }},
      {"allclose", two(), GRADUS_CALL(full({}, allclose(x[0], x[1], 0, 0.25), boolean)),
       [](const Step&, const Blocks& x) -> Blocks {
         bool same = true;
         const Block apart =
             broadcasted(x[0], x[1], x[0].dtype, [](Scalar a, Scalar b) { return absolute(a - b); });
         for (const Scalar number : apart.numbers) same &= compare(number, 0.25) <= 0;
         return {number_block(same, boolean)};
       }},
  };
}

}  // namespace gradus::test::graphs
