// Losses.

#include <cmath>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Reduction reduction(const Step& p) {
  return p.n == 0 ? Reduction::none : p.n == 1 ? Reduction::mean : Reduction::sum;
}

Block ended(const Step& p, const Block& losses, Scalar count) {
  if (p.n == 0) return losses;
  const Scalar total = sum(losses.numbers);
  if (p.n == 2) return {Shape{}, losses.dtype, {total}};
  if (value_of(count) == 0) return {Shape{}, losses.dtype, {constant(0)}};
  return {Shape{}, losses.dtype, {total / count}};
}
Block ended(const Step& p, const Block& losses) {
  if (p.n == 1 && losses.size() == 0) throw Unstable{"the mean of nothing"};
  return ended(p, losses, constant(static_cast<double>(losses.size())));
}

Drawing pair(const Wanted& first, const Wanted& second) {
  return [=](Draw& draw, Step& p) {
    draw.add(p, first);
    draw.add_like(p, draw.shape(p, 0), draw.value(p.inputs[0]).dtype, second);
    p.n = draw.below(3);
    p.a = draw.number(0.25, 2);
    return true;
  };
}

template <class F>
Naive of_pair(F f) {
  return [f](const Step& p, const Blocks& x) -> Blocks {
    return {ended(p, broadcasted(x[0], x[1], x[0].dtype, [&](Scalar a, Scalar b) { return f(p, a, b); }))};
  };
}

Scalar huber(const Step& p, Scalar a, Scalar b) {
  const Scalar d = a - b;
  if (compare(absolute(d), p.a) < 0) return 0.5 * d * d;
  return p.a * (absolute(d) - p.a / 2);
}

/// -y log s(x) - (1 - y) log(1 - s(x))
Scalar logistic(const Step&, Scalar x, Scalar y) {
  return -(y * log(sigmoid(x))) - (1 - y) * log(sigmoid(-x));
}

/// Logits [..., V] and targets [...], of which some are -100; p.flag: with weights of the classes.
Drawing classes(bool weights) {
  return [weights](Draw& draw, Step& p) {
    draw.add(p, {.low = -8, .high = 8, .rank = 1, .most_rank = 3, .empty = false});
    Shape rows = draw.shape(p, 0);
    const std::int64_t count = rows.back();
    rows.erase(rows.size() - 1);
    draw.add_indices(p, rows, count);
    if (weights)
      draw.add_like(p, {count}, draw.value(p.inputs[0]).dtype, {.low = 0.125, .high = 2, .constant = true});
    p.n = draw.below(3);
    p.a = draw.chance(0.5) ? 0 : 0.25;
    p.m = draw.chance(0.5) ? draw.below(count) : -100;
    return true;
  };
}

/// The losses of rows of log-probabilities, and what the mean divides by.
Blocks by_class(const Step& p, const Block& log_p, const Block& target, const Block* weight,
                double smoothing) {
  const std::int64_t v = log_p.shape.back();
  const auto w = [&](std::int64_t c) { return weight ? (*weight)[sz(c)] : constant(1); };
  Block losses{target.shape, log_p.dtype};
  Scalar count = constant(0);
  for (std::size_t row = 0; row < target.size(); ++row) {
    const auto t = static_cast<std::int64_t>(value_of(target[row]));
    if (t == p.m) {
      losses.numbers.push_back(constant(0));
      continue;
    }
    const auto at = [&](std::int64_t c) { return log_p[row * sz(v) + sz(c)]; };
    Scalar loss = (1 - smoothing) * (w(t) * -at(t));
    if (smoothing > 0)
      for (std::int64_t c = 0; c < v; ++c)
        loss = loss + (smoothing / static_cast<double>(v)) * (w(c) * -at(c));
    losses.numbers.push_back(loss);
    count = count + w(t);
  }
  return {ended(p, losses, count)};
}

Block log_softmax_of(const Block& x) {
  return along(x, -1, [](const Line& line) { return log_softmax(line); });
}

Drawing projected(bool bias) {
  return [bias](Draw& draw, Step& p) {
    const std::int64_t count = draw.between(1, 3);
    draw.add(p, {.low = -4, .high = 4, .rank = 1, .most_rank = 3, .most = 12, .empty = false});
    Shape rows = draw.shape(p, 0);
    const DType dtype = draw.value(p.inputs[0]).dtype;
    draw.add_like(p, {count, rows.back()}, dtype, {.low = -2, .high = 2});
    rows.erase(rows.size() - 1);
    draw.add_indices(p, rows, count);
    if (bias) draw.add_like(p, {count}, dtype, {.low = -2, .high = 2});
    p.n = draw.between(1, 2);
    p.a = draw.chance(0.5) ? 0 : 0.25;
    p.m = -100;
    return true;
  };
}

Blocks of_projection(const Step& p, const Blocks& x) {
  Shape shape = x[0].shape;
  const std::int64_t c = shape.back(), v = x[1].shape[0];
  shape[shape.size() - 1] = v;
  const Block logits = made(shape, x[0].dtype, [&](Index i) {
    const std::int64_t row = i.back();
    Scalar total = x.size() > 3 ? x[3][sz(row)] : constant(0);
    for (std::int64_t k = 0; k < c; ++k) {
      i.back() = k;
      total = total + x[0][place_of(x[0].shape, i)] * x[1][sz(row * c + k)];
    }
    return total;
  });
  return by_class(p, log_softmax_of(logits), x[2], nullptr, p.a);
}

}  // namespace

std::vector<OpCase> loss_cases() {
  const Wanted any{.low = -8, .high = 8}, probability{.low = 0, .high = 1}, positive{.low = 0.125, .high = 2};
  const auto of_logits = [](const Step& p, const Blocks& x) {
    return by_class(p, log_softmax_of(x[0]), x[1], x.size() > 2 ? &x[2] : nullptr, p.a);
  };
  return {
      {"mse_loss", pair(any, any), GRADUS_CALL(mse_loss(x[0], x[1], reduction(p))),
       of_pair([](const Step&, Scalar a, Scalar b) { return (a - b) * (a - b); })},
      {"l1_loss", pair(any, any), GRADUS_CALL(l1_loss(x[0], x[1], reduction(p))),
       of_pair([](const Step&, Scalar a, Scalar b) { return absolute(a - b); })},
      {"huber_loss", pair(any, any), GRADUS_CALL(huber_loss(x[0], x[1], reduction(p), p.a)), of_pair(huber)},
      {"binary_cross_entropy_with_logits", pair(any, probability),
       GRADUS_CALL(binary_cross_entropy_with_logits(x[0], x[1], reduction(p))), of_pair(logistic), "x0 x1/0"},
      {"kl_div", pair(any, positive), GRADUS_CALL(kl_div(x[0], x[1], reduction(p))),
       of_pair([](const Step&, Scalar x, Scalar t) { return t * (log(t) - x); }), "x0 x1/0 x1?"},
      {"kl_div", pair(any, {.low = -4, .high = 1}), GRADUS_CALL(kl_div(x[0], x[1], reduction(p), true)),
       of_pair([](const Step&, Scalar x, Scalar t) { return exp(t) * (t - x); }), "x0 x1/1 x1?"},
      {"cross_entropy", classes(false),
       GRADUS_CALL(cross_entropy(x[0], x[1],
                                 {.ignore_index = p.m, .label_smoothing = p.a, .reduction = reduction(p)})),
       of_logits, "x0~ x1~"},
      {"cross_entropy", classes(true),
       GRADUS_CALL(cross_entropy(
           x[0], x[1],
           {.weight = x[2], .ignore_index = p.m, .label_smoothing = p.a, .reduction = reduction(p)})),
       of_logits, "x0~ x1~ x2~ c2"},
      {"cross_entropy",
       [](Draw& draw, Step& p) {
         if (!pair({.low = -8, .high = 8, .rank = 1, .empty = false}, {.low = 0.125, .high = 1})(draw, p))
           return false;
         p.a = 0.25;
         return true;
       },
       GRADUS_CALL(cross_entropy(x[0], x[1], {.label_smoothing = p.a, .reduction = reduction(p)})),
       [](const Step& p, const Blocks& x) -> Blocks {
         const Block log_p = log_softmax_of(x[0]);
         const double v = static_cast<double>(x[0].shape.back());
         const Block costs = broadcasted(
             log_p, x[1], log_p.dtype, [&](Scalar l, Scalar t) { return -(l * (t * (1 - p.a) + p.a / v)); });
         return {ended(p, reduced(costs, {-1}, false, [](const Line& line) { return sum(line); }))};
       },
       "x0? x1?"},
      {"nll_loss",
       [](Draw& draw, Step& p) {
         draw.add(p, {.low = -8, .high = 0, .rank = 1, .most_rank = 3, .empty = false});
         Shape rows = draw.shape(p, 0);
         const std::int64_t count = rows.back();
         rows.erase(rows.size() - 1);
         draw.add_indices(p, rows, count);
         p.n = draw.below(3);
         p.m = -100;
         return true;
       },
       GRADUS_CALL(nll_loss(x[0], x[1], {.reduction = reduction(p)})),
       [](const Step& p, const Blocks& x) { return by_class(p, x[0], x[1], nullptr, 0); }, "x1~"},
      {"linear_cross_entropy", projected(false),
       GRADUS_CALL(
           linear_cross_entropy(x[0], x[1], x[2], {.label_smoothing = p.a, .reduction = reduction(p)})),
       of_projection, "x0? x1? x2?"},
      {"linear_cross_entropy", projected(true),
       GRADUS_CALL(
           linear_cross_entropy(x[0], x[1], x[2], {.label_smoothing = p.a, .reduction = reduction(p)}, x[3])),
       of_projection, "x0? x1? x2? x3?"},
  };
}

}  // namespace gradus::test::graphs
