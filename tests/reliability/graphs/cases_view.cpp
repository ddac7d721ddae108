// Views: the same numbers under another shape, in the same memory.

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Block same_numbers(const Block& x, const Shape& shape) { return {shape, x.dtype, x.numbers}; }

/// Another shape for the same count.
bool reshaped(Draw& draw, Step& p) {
  draw.add(p, {.most_rank = 5, .floating = false});
  std::int64_t rest = numel(draw.shape(p, 0));
  p.sizes = {};
  for (int i = 0; i < 4 && rest > 1; ++i) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= rest; ++d)
      if (rest % d == 0) divisors.push_back(d);
    p.sizes.push_back(divisors[sz(draw.below(static_cast<std::int64_t>(divisors.size())))]);
    rest /= p.sizes.back();
  }
  if (rest != 1 || draw.chance(0.1)) p.sizes.push_back(rest);
  return true;
}
bool viewed(Draw& draw, Step& p) {
  if (!reshaped(draw, p)) return false;
  const Value& x = draw.value(p.inputs[0]);
  return x.contiguous;
}
Naive to_sizes() {
  return [](const Step& p, const Blocks& x) -> Blocks { return {same_numbers(x[0], p.sizes)}; };
}

Drawing any_of(int rank, int most_rank = 4) {
  return [=](Draw& draw, Step& p) {
    draw.add(p, {.rank = rank, .most_rank = most_rank, .floating = draw.chance(0.9)});
    const int n = draw.shape(p, 0).size();
    p.axis = draw.any_axis(n);
    p.other = draw.any_axis(n);
    return true;
  };
}

Block permuted(const Block& x, const std::vector<int>& axes) {  // y's axis i is x's axis axes[i]
  Shape shape;
  for (const int axis : axes) shape.push_back(x.shape[axis]);
  return made(shape, x.dtype, [&](const Index& i) {
    Index from(i.size());
    for (std::size_t k = 0; k < axes.size(); ++k) from[sz(axes[k])] = i[k];
    return x[place_of(x.shape, from)];
  });
}

Block transposed(const Block& x, int a, int b) {
  std::vector<int> axes;
  for (int i = 0; i < x.dim(); ++i) axes.push_back(i == a ? b : i == b ? a : i);
  return permuted(x, axes);
}

bool drawn_order(Draw& draw, Step& p) {
  draw.add(p, {.floating = draw.chance(0.9)});
  const int rank = draw.shape(p, 0).size();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.insert(axes.begin() + draw.below(i + 1), i);
  p.sizes = {};
  for (const std::int64_t axis : axes) p.sizes.push_back(draw.chance(0.2) ? axis - rank : axis);
  return true;
}

Block without_axis(const Block& x, int axis) {
  Shape shape = x.shape;
  if (shape[axis] == 1) shape.erase(axis);
  return same_numbers(x, shape);
}

/// x[start:stop:step] of a line, bounds clipped as in Python.
template <class T>
std::vector<T> sliced(const std::vector<T>& line, std::int64_t start, std::int64_t stop, std::int64_t step) {
  const auto n = static_cast<std::int64_t>(line.size());
  if (start < 0) start += n;
  if (stop < 0) stop += n;
  start = std::max<std::int64_t>(start, 0);
  stop = std::min(stop, n);
  std::vector<T> y;
  for (std::int64_t i = start; i < stop; i += step) y.push_back(line[sz(i)]);
  return y;
}

Block selected(const Block& x, int axis, std::int64_t index) {
  const std::int64_t at = index < 0 ? index + x.shape[axis] : index;
  Block y = along(x, axis, [&](const Line& line) { return Line{line[sz(at)]}; });
  y.shape.erase(axis);
  return y;
}

bool drawn_index(Draw& draw, Step& p) {
  draw.add(p, {.rank = 1, .floating = draw.chance(0.9)});
  const Shape& shape = draw.shape(p, 0);
  p.axis = draw.any_axis(shape.size());
  const std::int64_t size = shape[axis_of(p.axis, shape.size())];
  if (size == 0) return false;
  p.n = draw.between(-size, size - 1);
  return true;
}

bool drawn_slice(Draw& draw, Step& p) {
  draw.add(p, {.rank = 1, .floating = draw.chance(0.9)});
  p.axis = draw.any_axis(draw.shape(p, 0).size());
  p.n = draw.between(-3, 2);
  p.m = draw.between(1, 6);
  p.other = draw.between(1, 3);
  return true;
}

}  // namespace

std::vector<OpCase> view_cases() {
  return {
      {"reshape", reshaped, GRADUS_CALL(reshape(x[0], p.sizes)), to_sizes(), "", kEither},
      {"view", viewed, GRADUS_CALL(view(x[0], p.sizes)), to_sizes(), "", kView},
      {"flatten", any_of(0), GRADUS_CALL(flatten(x[0])),
       [](const Step&, const Blocks& x) -> Blocks {
         return {same_numbers(x[0], {static_cast<std::int64_t>(x[0].size())})};
       },
       "", kEither},
      {"permute", drawn_order, GRADUS_CALL(permute(x[0], p.sizes)),
       [](const Step& p, const Blocks& x) -> Blocks {
         std::vector<int> axes;
         for (const std::int64_t axis : p.sizes) axes.push_back(axis_of(axis, x[0].dim()));
         return {permuted(x[0], axes)};
       },
       "", kView},
      {"transpose", any_of(1), GRADUS_CALL(transpose(x[0], p.axis, p.other)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {transposed(x[0], axis_of(p.axis, x[0].dim()), axis_of(p.other, x[0].dim()))};
       },
       "", kView},
      {"t", any_of(2, 2), GRADUS_CALL(x[0].t()),
       [](const Step&, const Blocks& x) -> Blocks { return {transposed(x[0], 0, 1)}; }, "", kView},
      {"squeeze", any_of(0), GRADUS_CALL(squeeze(x[0])),
       [](const Step&, const Blocks& x) -> Blocks {
         Block y = x[0];
         for (int axis = y.dim() - 1; axis >= 0; --axis) y = without_axis(y, axis);
         return {y};
       },
       "", kView},
      {"squeeze", any_of(1), GRADUS_CALL(squeeze(x[0], p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {without_axis(x[0], axis_of(p.axis, x[0].dim()))};
       },
       "", kEither},
      {"unsqueeze",
       [](Draw& draw, Step& p) {
         draw.add(p);
         p.axis = draw.any_axis(draw.shape(p, 0).size() + 1);
         return true;
       },
       GRADUS_CALL(unsqueeze(x[0], p.axis)),
       [](const Step& p, const Blocks& x) -> Blocks {
         Shape shape = x[0].shape;
         shape.insert(axis_of(p.axis, shape.size() + 1), 1);
         return {same_numbers(x[0], shape)};
       },
       "", kView},
      {"expand",
       [](Draw& draw, Step& p) {
         draw.add(p, {.most = 12});
         p.sizes = draw.shape(p, 0);
         for (std::int64_t& size : p.sizes)
           if (size == 1) size = draw.between(0, 3);
         if (draw.chance(0.3) && p.sizes.size() < 4) p.sizes.insert(0, draw.between(1, 2));
         return true;
       },
       GRADUS_CALL(expand(x[0], p.sizes)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {made(p.sizes, x[0].dtype, [&](const Index& i) { return number_at(x[0], i); })};
       },
       "", kView},
      {"select", drawn_index, GRADUS_CALL(select(x[0], p.axis, p.n)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {selected(x[0], axis_of(p.axis, x[0].dim()), p.n)};
       },
       "", kView},
      {"operator[]", [](Draw& draw, Step& p) { return drawn_index(draw, p) && draw.shape(p, 0)[0] > 0; },
       GRADUS_CALL(x[0][0]), [](const Step&, const Blocks& x) -> Blocks { return {selected(x[0], 0, 0)}; },
       "", kView},
      {"slice", drawn_slice, GRADUS_CALL(slice(x[0], p.axis, p.n, p.m, p.other)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {along(x[0], p.axis, [&](const Line& line) { return sliced(line, p.n, p.m, p.other); })};
       },
       "", kView},
      {"unfold",
       [](Draw& draw, Step& p) {
         draw.add(p, {.rank = 1, .most_rank = 3, .most = 16});
         p.axis = draw.any_axis(draw.shape(p, 0).size());
         const std::int64_t size = draw.shape(p, 0)[axis_of(p.axis, draw.shape(p, 0).size())];
         if (size == 0) return false;
         p.n = draw.between(1, std::min<std::int64_t>(size, 3));
         p.m = draw.between(1, 3);
         return true;
       },
       GRADUS_CALL(unfold(x[0], p.axis, p.n, p.m)),
       [](const Step& p, const Blocks& x) -> Blocks {
         const int axis = axis_of(p.axis, x[0].dim());
         Shape shape = x[0].shape;
         shape[axis] = (shape[axis] - p.n) / p.m + 1;
         shape.push_back(p.n);
         return {made(shape, x[0].dtype, [&](Index i) {
           i[sz(axis)] = i[sz(axis)] * p.m + i.back();
           i.pop_back();
           return x[0][place_of(x[0].shape, i)];
         })};
       },
       "", kView},
      {"contiguous", any_of(0), GRADUS_CALL(contiguous(x[0])),
       [](const Step&, const Blocks& x) -> Blocks { return {x[0]}; }, "", kEither},
      {"detach", any_of(0), GRADUS_CALL(x[0].detach()),
       [](const Step&, const Blocks& x) -> Blocks { return {x[0]}; }, "c0", kView},
      {"requires_grad_", one(), GRADUS_CALL(x[0].detach().requires_grad_()),
       [](const Step&, const Blocks& x) -> Blocks { return {x[0]}; }, "c0", kView},
  };
}

}  // namespace gradus::test::graphs
