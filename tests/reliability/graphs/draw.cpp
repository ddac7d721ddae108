#include "reliability/graphs/draw.h"

#include <algorithm>
#include <cmath>

#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

double Draw::number(double low, double high) {
  const auto first = static_cast<std::int64_t>(std::ceil(8 * low)),
             last = static_cast<std::int64_t>(std::floor(8 * high));
  return static_cast<double>(between(first, last)) / 8;
}

bool Draw::fits(const Value& x, const Wanted& wanted) const {
  const auto count = static_cast<std::int64_t>(x.cells.size());
  if (wanted.floating && !x.floating()) return false;
  if (x.shape.size() < wanted.rank || x.shape.size() > wanted.most_rank || count > wanted.most) return false;
  if (!wanted.empty && count == 0) return false;
  for (std::size_t i = 0; i < x.cells.size(); ++i)
    if (const double v = run_.interpreter().cell(x, i); v < wanted.low || v > wanted.high) return false;
  return true;
}

bool Draw::emit(const Step& p) {
  steps_.push_back(p);
  const Run::Result result = run_.step(p);
  if (result == Run::Result::unstable) steps_.pop_back();
  ended_ |= result == Run::Result::ended;
  return result != Run::Result::unstable;
}

bool Draw::reuse(Step& p, const std::vector<Ref>& found) {
  if (found.empty() || !chance(0.88)) return false;
  p.inputs.push_back(one_of(found));
  return true;
}

void Draw::add(Step& p, const Wanted& wanted) {
  const std::vector<Ref> found = all([&](const Value& x) { return fits(x, wanted); });
  if (reuse(p, found)) return;
  const double low = std::max(wanted.low, -2.0), high = std::max(std::min(wanted.high, 2.0), low);
  const DType dtype = wanted.floating || chance(0.4) ? floating() : chance(0.7) ? i64 : boolean;
  const bool flags = dtype == boolean;
  add_new(p,
          any_shape(wanted.rank, std::min(wanted.most_rank, 3), std::min<std::int64_t>(wanted.most, 20),
                    wanted.empty),
          dtype,
          flags          ? 0
          : dtype == i64 ? std::ceil(low)
                         : low,
          flags ? 1 : high);
}

void Draw::add_operand(Step& p, const Wanted& wanted) {
  const Value first = value(p.inputs[0]);
  const std::vector<Ref> found = all([&](const Value& x) {
    if (x.dtype != first.dtype ||
        !fits(x, {.low = wanted.low, .high = wanted.high, .empty = wanted.empty, .floating = false}))
      return false;
    const int n = std::min(x.shape.size(), first.shape.size());
    for (int k = 1; k <= n; ++k) {
      const std::int64_t a = x.shape[x.shape.size() - k], b = first.shape[first.shape.size() - k];
      if (a != b && a != 1 && b != 1) return false;
    }
    return numel(broadcast(x.shape, first.shape)) <= 40;
  });
  if (reuse(p, found)) return;
  const double low = first.dtype == boolean ? 0 : std::max(wanted.low, -2.0);
  add_new(p, chance(0.5) ? first.shape : narrowed(first.shape), first.dtype, low,
          first.dtype == boolean ? 1 : std::max(std::min(wanted.high, 2.0), low));
}

void Draw::add_like(Step& p, const Shape& shape, DType dtype, const Wanted& wanted) {
  const std::vector<Ref> found = all([&](const Value& x) {
    return x.shape == shape && x.dtype == dtype && !(wanted.constant && x.taped()) &&
           fits(x, {.low = wanted.low, .high = wanted.high, .floating = false});
  });
  if (reuse(p, found)) return;
  const double low = std::max(wanted.low, -2.0);
  add_new(p, shape, dtype, low, std::max(std::min(wanted.high, 2.0), low), wanted.constant);
}

bool Draw::add_target(Step& p) {
  const std::vector<Ref> found = all([&](const Value& x) { return x.floating() && !x.cells.empty(); });
  if (found.empty()) return false;
  p.inputs.push_back(one_of(found));
  p.a = number(-1, 1);
  return true;
}

Shape Draw::any_shape(int rank, int most_rank, std::int64_t most, bool empty) {
  Shape shape;
  for (std::int64_t k = between(rank, std::max(rank, most_rank)); k > 0; --k)
    shape.push_back(empty && chance(0.04) ? 0 : chance(0.2) ? 1 : between(1, 4));
  while (numel(shape) > most) shape[static_cast<int>(below(shape.size()))] = 1;
  return shape;
}

Shape Draw::narrowed(const Shape& shape) {
  Shape y = shape;
  while (!y.empty() && chance(0.25)) y.erase(0);
  for (std::int64_t& size : y)
    if (chance(0.3)) size = 1;
  return y;
}

std::int64_t Draw::any_axis(int rank) { return between(chance(0.3) ? -rank : 0, std::max(rank - 1, 0)); }

Ref Draw::emitted(const Step& p) {
  emit(p);
  return {static_cast<int>(steps_.size()) - 1, 0};
}

void Draw::add_new(Step& p, const Shape& shape, DType dtype, double low, double high, bool constant) {
  // Laid out as: plain, transposed, every second, after a gap, one repeated.
  std::int64_t layout = chance(0.5) ? 0 : between(1, 4);
  const int rank = shape.size();
  Shape base = shape;
  Step view;
  if (rank == 0 || (layout == 1 && rank < 2)) layout = 0;
  const int axis = static_cast<int>(below(rank));
  if (layout == 1) {
    const int other = static_cast<int>(below(rank));
    std::swap(base[axis], base[other]);
    view = {.op = &op_named("transpose"), .axis = axis, .other = other};
  } else if (layout == 2) {
    base[axis] = 2 * shape[axis];
    view = {.op = &op_named("slice"), .axis = axis, .other = 2, .n = 0, .m = 2 * shape[axis]};
    if (shape[axis] == 0) layout = 0, base = shape;
  } else if (layout == 3) {
    base[axis] = shape[axis] + 1;
    view = {.op = &op_named("slice"), .axis = axis, .other = 1, .n = 1, .m = shape[axis] + 1};
  } else if (layout == 4) {
    base[axis] = 1;
    view = {.op = &op_named("expand"), .sizes = shape};
  }
  std::vector<double> values;
  for (std::int64_t i = numel(base); i > 0; --i)
    values.push_back(is_floating(dtype) ? number(low, high)
                                        : static_cast<double>(between(static_cast<std::int64_t>(low),
                                                                      static_cast<std::int64_t>(high))));
  Ref x = emitted({.kind = Kind::leaf, .shape = base, .dtype = dtype, .values = values});
  if (layout != 0) {
    view.inputs = {x};
    x = emitted(view);
  }
  if (is_floating(dtype) && !constant && chance(0.6))
    x = emitted({.op = &op_named("requires_grad_"), .inputs = {x}});
  p.inputs.push_back(x);
}

void Draw::add_indices(Step& p, const Shape& shape, std::int64_t n) {
  add_new(p, shape, i64, 0, static_cast<double>(n - 1));
}

}  // namespace gradus::test::graphs
