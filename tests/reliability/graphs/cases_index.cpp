// Reading and writing by index, masks, triangles.

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

std::int64_t whole(Scalar x) { return static_cast<std::int64_t>(value_of(x)); }

/// x of rank 1 or more, with elements along the axis.
bool table(Draw& draw, Step& p, int rank = 1) {
  draw.add(p, {.rank = rank, .most_rank = 3, .empty = false});
  p.axis = draw.any_axis(draw.shape(p, 0).size());
  return true;
}
std::int64_t size_along(Draw& draw, const Step& p) {
  const Shape& shape = draw.shape(p, 0);
  return shape[axis_of(p.axis, shape.size())];
}

/// An index of x's rank, no larger than x but along the axis.
bool with_places(Draw& draw, Step& p) {
  table(draw, p);
  Shape shape = draw.shape(p, 0);
  const int at = axis_of(p.axis, shape.size());
  for (int axis = 0; axis < shape.size(); ++axis)
    shape[axis] = axis == at ? draw.between(0, 3) : draw.between(1, shape[axis]);
  draw.add_indices(p, shape, size_along(draw, p));
  p.a = draw.number(-2, 2);
  return true;
}
bool with_source(Draw& draw, Step& p) {
  if (!with_places(draw, p)) return false;
  draw.add_like(p, draw.shape(p, 1), draw.value(p.inputs[0]).dtype);
  return true;
}
bool with_rows(Draw& draw, Step& p) {
  table(draw, p);
  draw.add_indices(p, {draw.between(0, 4)}, size_along(draw, p));
  return true;
}

Block gathered(const Block& x, int axis, const Block& index) {
  return made(index.shape, x.dtype, [&](Index i) {
    i[sz(axis)] = whole(index[place_of(index.shape, i)]);
    return x[place_of(x.shape, i)];
  });
}

template <class Put>
Blocks scattered(const Step& p, const Blocks& x, Put put) {
  Block y = x[0];
  const int axis = axis_of(p.axis, y.dim());
  for (const Index& i : indices_of(x[1].shape)) {
    Index to = i;
    to[sz(axis)] = whole(x[1][place_of(x[1].shape, i)]);
    put(y.numbers[place_of(y.shape, to)], i);
  }
  return {y};
}

Block rows(const Block& x, int axis, const Block& index) {
  return along(x, axis, [&](const Line& line) {
    Line y;
    for (const Scalar i : index.numbers)
      y.push_back(line[sz(whole(i) < 0 ? whole(i) + static_cast<std::int64_t>(line.size()) : whole(i))]);
    return y;
  });
}

/// Rows of x by an index of any shape.
Block picked(const Block& x, const Block& index) {
  Block y = rows(x, 0, {{static_cast<std::int64_t>(index.size())}, i64, index.numbers});
  Shape shape = index.shape;
  for (int axis = 1; axis < x.dim(); ++axis) shape.push_back(x.shape[axis]);
  y.shape = shape;
  return y;
}

Block triangle(const Step& p, const Block& x, bool lower) {
  return made(x.shape, x.dtype, [&](const Index& i) {
    const std::int64_t across = i.back() - i[i.size() - 2];
    return (lower ? across <= p.n : across >= p.n) ? x[place_of(x.shape, i)] : constant(0);
  });
}

bool matrix(Draw& draw, Step& p) {
  draw.add(p, {.rank = 2});
  p.n = draw.between(-2, 2);
  return true;
}

bool with_a_mask(Draw& draw, Step& p, bool first_axes) {
  draw.add(p, {.rank = 1});
  Shape shape = draw.shape(p, 0);
  if (first_axes)
    while (shape.size() > 1 && draw.chance(0.5)) shape.erase(shape.size() - 1);
  else
    shape = draw.narrowed(shape);
  draw.add_mask(p, shape);
  return true;
}

}  // namespace

std::vector<OpCase> index_cases() {
  return {
      {"gather", with_places, GRADUS_CALL(gather(x[0], p.axis, x[1])),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {gathered(x[0], axis_of(p.axis, x[0].dim()), x[1])};
       },
       "x1~"},
      {"scatter_add", with_source, GRADUS_CALL(scatter_add(x[0], p.axis, x[1], x[2])),
       [](const Step& p, const Blocks& x) {
         return scattered(p, x, [&](Scalar& to, const Index& i) { to = to + x[2][place_of(x[2].shape, i)]; });
       },
       "x1~/2"},
      {"scatter", with_source, GRADUS_CALL(scatter(x[0], p.axis, x[1], x[2])),
       [](const Step& p, const Blocks& x) {
         return scattered(p, x, [&](Scalar& to, const Index& i) { to = x[2][place_of(x[2].shape, i)]; });
       },
       "x1~/0 x1~/2"},
      {"scatter", with_places, GRADUS_CALL(scatter(x[0], p.axis, x[1], p.a)),
       [](const Step& p, const Blocks& x) {
         return scattered(p, x, [&](Scalar& to, const Index&) { to = constant(p.a); });
       },
       "x1~"},
      {"index_add",
       [](Draw& draw, Step& p) {
         with_rows(draw, p);
         Shape shape = draw.shape(p, 0);
         shape[axis_of(p.axis, shape.size())] = draw.shape(p, 1)[0];
         draw.add_like(p, shape, draw.value(p.inputs[0]).dtype);
         return true;
       },
       GRADUS_CALL(index_add(x[0], p.axis, x[1], x[2])),
       [](const Step& p, const Blocks& x) -> Blocks {
         Block y = x[0];
         const int axis = axis_of(p.axis, y.dim());
         for (const Index& i : indices_of(x[2].shape)) {
           Index to = i;
           to[sz(axis)] = whole(x[1][sz(i[sz(axis)])]);
           Scalar& number = y.numbers[place_of(y.shape, to)];
           number = number + x[2][place_of(x[2].shape, i)];
         }
         return {y};
       },
       "x1~/2"},
      {"index_select", with_rows, GRADUS_CALL(index_select(x[0], p.axis, x[1])),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {rows(x[0], axis_of(p.axis, x[0].dim()), x[1])};
       },
       "x1~"},
      {"embedding",
       [](Draw& draw, Step& p) {
         Step of;
         draw.add(of, {.rank = 2, .most_rank = 2, .empty = false});
         draw.add_indices(p, draw.any_shape(0, 2, 4, true), draw.shape(of, 0)[0]);
         p.inputs.push_back(of.inputs[0]);
         return true;
       },
       GRADUS_CALL(embedding(x[0], x[1])),
       [](const Step&, const Blocks& x) -> Blocks { return {picked(x[1], x[0])}; }, "x0~"},
      {"operator[]",
       [](Draw& draw, Step& p) {
         draw.add(p, {.rank = 1, .most_rank = 3, .empty = false});
         draw.add_new(p, draw.any_shape(0, 2, 4, true), i64, -static_cast<double>(draw.shape(p, 0)[0]),
                      static_cast<double>(draw.shape(p, 0)[0] - 1));
         return true;
       },
       GRADUS_CALL(Tensor(x[0][x[1]])),
       [](const Step&, const Blocks& x) -> Blocks { return {picked(x[0], x[1])}; }},
      {"operator[]", [](Draw& draw, Step& p) { return with_a_mask(draw, p, true); },
       GRADUS_CALL(Tensor(x[0][x[1]])),
       [](const Step&, const Blocks& x) -> Blocks {
         Shape shape{0};
         std::int64_t rest = 1;
         for (int axis = x[1].dim(); axis < x[0].dim(); ++axis) {
           shape.push_back(x[0].shape[axis]);
           rest *= x[0].shape[axis];
         }
         Block y{shape, x[0].dtype};
         for (std::size_t i = 0; i < x[1].size(); ++i) {
           if (value_of(x[1][i]) == 0) continue;
           ++y.shape[0];
           for (std::int64_t j = 0; j < rest; ++j) y.numbers.push_back(x[0][i * sz(rest) + sz(j)]);
         }
         return {y};
       }},
      {"masked_select", [](Draw& draw, Step& p) { return with_a_mask(draw, p, false); },
       GRADUS_CALL(masked_select(x[0], x[1])),
       [](const Step&, const Blocks& x) -> Blocks {
         Block y{{0}, x[0].dtype};
         for (const Index& i : indices_of(broadcast(x[0].shape, x[1].shape)))
           if (value_of(number_at(x[1], i)) != 0) y.numbers.push_back(number_at(x[0], i));
         y.shape[0] = static_cast<std::int64_t>(y.size());
         return {y};
       }},
      {"one_hot",
       [](Draw& draw, Step& p) {
         p.n = draw.between(1, 4);
         draw.add_indices(p, draw.any_shape(0, 2, 6, true), p.n);
         return true;
       },
       GRADUS_CALL(one_hot(x[0], p.n)),
       [](const Step& p, const Blocks& x) -> Blocks {
         Shape shape = x[0].shape;
         shape.push_back(p.n);
         return {made(shape, i64, [&](Index i) {
           const std::int64_t c = i.back();
           i.pop_back();
           return constant(whole(x[0][place_of(x[0].shape, i)]) == c);
         })};
       }},
      {"tril", matrix, GRADUS_CALL(tril(x[0], p.n)),
       [](const Step& p, const Blocks& x) -> Blocks { return {triangle(p, x[0], true)}; }},
      {"triu", matrix, GRADUS_CALL(triu(x[0], p.n)),
       [](const Step& p, const Blocks& x) -> Blocks { return {triangle(p, x[0], false)}; }},
  };
}

std::vector<OpCase> write_cases() {
  const auto target = [](Draw& draw, Step& p) { return draw.add_target(p); };
  const auto with_source = [](Draw& draw, Step& p) {
    if (!draw.add_target(p)) return false;
    draw.add_like(p, draw.narrowed(draw.shape(p, 0)), draw.value(p.inputs[0]).dtype);
    return true;
  };
  const auto updated = [](auto f) {
    return [f](const Step& p, const Blocks& x) -> Blocks {
      const Block other = x.size() > 1 ? x[1] : Block{Shape{}, x[0].dtype, {constant(p.a)}};
      return {broadcasted(x[0], other, x[0].dtype, f)};
    };
  };
  const auto second = [](Scalar, Scalar b) { return b; };
  const auto plus = [](Scalar a, Scalar b) { return a + b; };
  const auto times = [](Scalar a, Scalar b) { return a * b; };
  return {
      {"fill_", target, GRADUS_CALL(x[0].fill_(p.a)), updated(second)},
      {"copy_", with_source, GRADUS_CALL(x[0].copy_(x[1])), updated(second)},
      {"operator+=", with_source, GRADUS_CALL(x[0] += x[1]), updated(plus)},
      {"operator-=", with_source, GRADUS_CALL(x[0] -= x[1]),
       updated([](Scalar a, Scalar b) { return a - b; })},
      {"operator*=", with_source, GRADUS_CALL(x[0] *= x[1]), updated(times)},
      {"operator*=", target, GRADUS_CALL(x[0] *= p.a), updated(times)},
      {"operator+=", target, GRADUS_CALL(x[0] += p.a), updated(plus)},
      {"operator/=", with_source, GRADUS_CALL(x[0] /= x[1]),
       updated([](Scalar a, Scalar b) { return a / b; })},
      {"zero_", target, GRADUS_CALL(x[0].zero_()), updated([](Scalar, Scalar) { return constant(0); })},
      {"operator[]=",
       [](Draw& draw, Step& p) {
         if (!draw.add_target(p) || draw.shape(p, 0).size() == 0) return false;
         draw.add_mask(p, draw.shape(p, 0));
         return true;
       },
       GRADUS_CALL((x[0][x[1]] = p.a, x[0])),
       [](const Step& p, const Blocks& x) -> Blocks {
         Block y = x[0];
         for (std::size_t i = 0; i < y.size(); ++i)
           if (value_of(x[1][i]) != 0) y.numbers[i] = constant(p.a);
         return {y};
       }},
      {"operator[]=",
       [](Draw& draw, Step& p) {
         if (!draw.add_target(p) || draw.shape(p, 0).size() == 0) return false;
         draw.add_indices(p, {draw.between(0, 3)}, draw.shape(p, 0)[0]);
         Shape row = draw.shape(p, 0);
         row.erase(0);
         draw.add_like(p, row, draw.value(p.inputs[0]).dtype);
         return true;
       },
       GRADUS_CALL((x[0][x[1]] = x[2], x[0])),
       [](const Step&, const Blocks& x) -> Blocks {
         Block y = x[0];
         const std::size_t n = x[2].size();
         for (const Scalar row : x[1].numbers)
           for (std::size_t j = 0; j < n; ++j) y.numbers[sz(whole(row)) * n + j] = x[2][j];
         return {y};
       }},
  };
}

}  // namespace gradus::test::graphs
