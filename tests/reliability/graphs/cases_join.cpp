// Joining, splitting, repeating and padding.

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Drawing part_of() {
  return [](Draw& draw, Step& p) {
    draw.add(p, {.rank = 1, .floating = draw.chance(0.9)});
    p.axis = draw.any_axis(draw.shape(p, 0).size());
    p.n = draw.between(1, 3);
    p.m = draw.between(-4, 4);
    return true;
  };
}

bool joinable(Draw& draw, Step& p, bool along_axis) {
  draw.add(p, {.rank = along_axis ? 1 : 0, .most_rank = 3, .most = 16});
  const Shape shape = draw.shape(p, 0);
  const DType dtype = draw.value(p.inputs[0]).dtype;
  p.axis = draw.any_axis(shape.size() + (along_axis ? 0 : 1));
  for (std::int64_t more = draw.below(3); more > 0; --more) {
    Shape other = shape;
    if (along_axis) other[axis_of(p.axis, shape.size())] = draw.between(0, 2);
    draw.add_like(p, other, dtype);
  }
  return true;
}

Block joined(const Blocks& xs, int axis) {
  Shape shape = xs[0].shape;
  shape[axis] = 0;
  for (const Block& x : xs) shape[axis] += x.shape[axis];
  return made(shape, xs[0].dtype, [&](Index i) {
    std::size_t k = 0;
    for (; i[sz(axis)] >= xs[k].shape[axis]; ++k) i[sz(axis)] -= xs[k].shape[axis];
    return xs[k][place_of(xs[k].shape, i)];
  });
}

Block piece_of(const Block& x, int axis, std::int64_t begin, std::int64_t end) {
  return along(x, axis, [&](const Line& line) { return Line(line.begin() + begin, line.begin() + end); });
}

/// Pieces of `size` along the axis.
Blocks pieces(const Block& x, int axis, std::int64_t size, std::int64_t if_empty) {
  Blocks ys;
  const std::int64_t n = x.shape[axis];
  for (std::int64_t begin = 0; begin < n; begin += size)
    ys.push_back(piece_of(x, axis, begin, std::min(n, begin + size)));
  while (n == 0 && static_cast<std::int64_t>(ys.size()) < if_empty) ys.push_back(x);
  return ys;
}

template <class F>
Naive lines(F f) {
  return [f](const Step& p, const Blocks& x) -> Blocks {
    return {along(x[0], p.axis, [&](const Line& line) { return f(p, line); })};
  };
}

Line rolled(const Step& p, const Line& line) {
  Line y(line.size());
  const auto n = static_cast<std::int64_t>(line.size());
  for (std::int64_t i = 0; i < n; ++i) y[sz(((i + p.m) % n + n) % n)] = line[sz(i)];
  return y;
}

Line interleaved(const Step& p, const Line& line) {
  Line y;
  for (const Scalar number : line) y.insert(y.end(), sz(p.n), number);
  return y;
}

/// Pads for the last two axes at most, within what the mode allows.
Drawing padding(std::int64_t least, bool mirrored) {
  return [=](Draw& draw, Step& p) {
    draw.add(p, {.rank = 1, .most = 16, .empty = !mirrored});
    const Shape& shape = draw.shape(p, 0);
    p.list.clear();
    for (int axis = shape.size() - 1; axis >= 0 && p.list.size() < 4; --axis)
      for (int side = 0; side < 2; ++side)
        p.list.push_back(draw.between(std::max(least, -(shape[axis] / 2)),
                                      mirrored ? std::min<std::int64_t>(2, shape[axis] - 1) : 2));
    p.a = draw.number(-1, 1);
    return true;
  };
}

/// `outside(i, n)`: the place that place i outside of 0 .. n - 1 gets its number from; -1: the value.
template <class F>
Naive padded(F outside) {
  return [outside](const Step& p, const Blocks& x) -> Blocks {
    Shape shape = x[0].shape;
    const auto before = [&](int axis) -> std::int64_t {
      const std::size_t k = 2 * sz(x[0].dim() - 1 - axis);
      return k < p.list.size() ? static_cast<std::int64_t>(p.list[k]) : 0;
    };
    for (int axis = 0; axis < shape.size(); ++axis)
      if (const std::size_t k = 2 * sz(shape.size() - 1 - axis); k < p.list.size())
        shape[axis] += static_cast<std::int64_t>(p.list[k]) + static_cast<std::int64_t>(p.list[k + 1]);
    return {made(shape, x[0].dtype, [&](Index i) {
      for (int axis = 0; axis < shape.size(); ++axis) {
        std::int64_t& at = i[sz(axis)];
        at -= before(axis);
        if (at < 0 || at >= x[0].shape[axis]) at = outside(at, x[0].shape[axis]);
        if (at < 0) return constant(p.a);
      }
      return x[0][place_of(x[0].shape, i)];
    })};
  };
}

}  // namespace

std::vector<OpCase> join_cases() {
  return {
      {"cat", [](Draw& draw, Step& p) { return joinable(draw, p, true); }, GRADUS_CALL(cat(x, p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks { return {joined(x, axis_of(p.axis, x[0].dim()))}; }},
      {"stack", [](Draw& draw, Step& p) { return joinable(draw, p, false); }, GRADUS_CALL(stack(x, p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks {
         Blocks ones = x;
         const int axis = axis_of(p.axis, x[0].dim() + 1);
         for (Block& block : ones) block.shape.insert(axis, 1);
         return {joined(ones, axis)};
       }},
      {"split", part_of(), GRADUS_CALL(split(x[0], p.n, p.axis)),
       [](const Step& p, const Blocks& x) { return pieces(x[0], axis_of(p.axis, x[0].dim()), p.n, 1); }, "",
       kView},
      {"split",
       [](Draw& draw, Step& p) {
         if (!part_of()(draw, p)) return false;
         const Shape& shape = draw.shape(p, 0);
         const std::int64_t size = shape[axis_of(p.axis, shape.size())];
         p.n = draw.between(0, size);
         p.m = size - p.n;
         return true;
       },
       GRADUS_CALL(split(x[0], {p.n, 0, p.m}, p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks {
         const int axis = axis_of(p.axis, x[0].dim());
         return {piece_of(x[0], axis, 0, p.n), piece_of(x[0], axis, p.n, p.n),
                 piece_of(x[0], axis, p.n, p.n + p.m)};
       },
       "", kView},
      {"chunk", part_of(), GRADUS_CALL(chunk(x[0], p.n, p.axis)),
       [](const Step& p, const Blocks& x) {
         const int axis = axis_of(p.axis, x[0].dim());
         return pieces(x[0], axis, std::max<std::int64_t>(1, (x[0].shape[axis] + p.n - 1) / p.n), p.n);
       },
       "", kView},
      {"unbind", part_of(), GRADUS_CALL(unbind(x[0], p.axis)),
       [](const Step& p, const Blocks& x) {
         const int axis = axis_of(p.axis, x[0].dim());
         Blocks ys = pieces(x[0], axis, 1, 0);
         for (Block& y : ys) y.shape.erase(axis);
         return ys;
       },
       "", kView},
      {"flip", part_of(), GRADUS_CALL(flip(x[0], p.axis)),
       lines([](const Step&, const Line& line) { return Line(line.rbegin(), line.rend()); })},
      {"roll", part_of(), GRADUS_CALL(roll(x[0], p.m, p.axis)), lines(rolled)},
      {"repeat_interleave", part_of(), GRADUS_CALL(repeat_interleave(x[0], p.n, p.axis)), lines(interleaved)},
      {"repeat_interleave",
       [](Draw& draw, Step& p) {
         part_of()(draw, p);
         const Shape& shape = draw.shape(p, 0);
         draw.add_new(p, {shape[axis_of(p.axis, shape.size())]}, i64, 0, 2);
         return true;
       },
       GRADUS_CALL(repeat_interleave(x[0], x[1], p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks {
         Block y = along(x[0], p.axis, [&](const Line& line) {
           Line repeated;
           for (std::size_t i = 0; i < line.size(); ++i)
             repeated.insert(repeated.end(), sz(static_cast<std::int64_t>(value_of(x[1][i]))), line[i]);
           return repeated;
         });
         return {y};
       }},
      {"repeat",
       [](Draw& draw, Step& p) {
         draw.add(p, {.most_rank = 3, .most = 12});
         p.sizes = {};
         for (std::int64_t i = draw.shape(p, 0).size() + draw.below(2); i > 0; --i)
           p.sizes.push_back(draw.between(draw.chance(0.1) ? 0 : 1, 2));
         return true;
       },
       GRADUS_CALL(repeat(x[0], p.sizes)),
       [](const Step& p, const Blocks& x) -> Blocks {
         Shape from = x[0].shape, shape;
         while (from.size() < p.sizes.size()) from.insert(0, 1);
         for (int axis = 0; axis < from.size(); ++axis) shape.push_back(from[axis] * p.sizes[axis]);
         return {made(shape, x[0].dtype, [&](Index i) {
           for (int axis = 0; axis < from.size(); ++axis) i[sz(axis)] %= from[axis];
           return x[0][place_of(from, i)];
         })};
       }},
      {"pad", padding(-2, false), GRADUS_CALL(pad(x[0], p.list, p.a)),
       padded([](std::int64_t, std::int64_t) { return -1; })},
      {"pad", padding(0, true), GRADUS_CALL(pad(x[0], p.list, PadMode::reflect)),
       padded([](std::int64_t i, std::int64_t n) { return i < 0 ? -i : 2 * (n - 1) - i; })},
      {"pad", padding(0, true), GRADUS_CALL(pad(x[0], p.list, PadMode::replicate)),
       padded([](std::int64_t i, std::int64_t n) { return i < 0 ? 0 : n - 1; })},
  };
}

}  // namespace gradus::test::graphs
