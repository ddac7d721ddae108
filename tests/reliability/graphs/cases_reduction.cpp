// Reductions, running sums, products, softmax.

#include <cmath>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

Line softmax(const Line& x) {
  Line y;
  for (const Scalar number : x) y.push_back(exp(number));
  const Scalar total = sum(y);
  for (Scalar& number : y) number = number / total;
  return y;
}

Scalar logsumexp(const Line& x) {
  Line y;
  for (const Scalar number : x) y.push_back(exp(number));
  return log(sum(y));
}

Line log_softmax(const Line& x) {
  const Scalar total = logsumexp(x);
  Line y;
  for (const Scalar number : x) y.push_back(number - total);
  return y;
}

namespace {

/// Some of the axes, or none for all.
void draw_axes(Draw& draw, Step& p) {
  const int rank = draw.shape(p, 0).size();
  p.axes = {};
  for (int axis = 0; axis < rank; ++axis)
    if (draw.chance(0.4)) p.axes.push_back(draw.chance(0.3) ? axis - rank : axis);
  p.keep = draw.chance(0.4);
}

Drawing reduces(const Wanted& wanted = {}) {
  return [wanted](Draw& draw, Step& p) {
    draw.add(p, wanted);
    draw_axes(draw, p);
    p.flag = draw.chance(0.5);
    return true;
  };
}

Drawing on_axis(const Wanted& wanted = {.rank = 1}) {
  return [wanted](Draw& draw, Step& p) {
    draw.add(p, wanted);
    p.axis = draw.any_axis(draw.shape(p, 0).size());
    p.keep = draw.chance(0.4);
    return true;
  };
}

Drawing on_last_axis(const Wanted& wanted) {
  return [wanted](Draw& draw, Step& p) {
    p.axis = -1;
    draw.add(p, wanted);
    return true;
  };
}

template <class F>
Naive over_axes(F f) {
  return [f](const Step& p, const Blocks& x) -> Blocks {
    return {reduced(x[0], p.all_axes(), p.keep, [&](const Line& line) {
      if constexpr (std::is_invocable_v<F, const Line&>)
        return f(line);
      else
        return f(p, line);
    })};
  };
}

template <class F>
Naive along_axis(F f) {
  return [f](const Step& p, const Blocks& x) -> Blocks { return {along(x[0], p.axis, f)}; };
}

Scalar mean(const Line& line) {
  if (line.empty()) throw Unstable{"the mean of nothing"};
  return sum(line) / static_cast<double>(line.size());
}

Scalar variance(const Step& p, const Line& line) {
  const double k = static_cast<double>(line.size()) - (p.flag ? 1 : 0);
  if (k <= 0) throw Unstable{"the variance of one number"};
  const Scalar middle = mean(line);
  Line squares;
  for (const Scalar number : line) squares.push_back((number - middle) * (number - middle));
  return sum(squares) / k;
}

Scalar deviation(const Step& p, const Line& line) {
  const Scalar square = variance(p, line);
  return value_of(square) == 0 ? constant(0) : sqrt(square);
}

Scalar norm_of_line(const Step& p, const Line& line) {
  Line sizes;
  for (const Scalar number : line) sizes.push_back(p.a == 2 ? number * number : absolute(number));
  if (p.a == 1) return sum(sizes);
  if (p.a == 2) return value_of(sum(sizes)) == 0 ? constant(0) : sqrt(sum(sizes));
  return largest(sizes);
}

Drawing norm_of(double order) {
  return [order](Draw& draw, Step& p) {
    draw.add(p, {.empty = order != INFINITY});
    draw_axes(draw, p);
    p.a = order;
    return true;
  };
}

Scalar product_of(const Line& line) {
  Scalar y = constant(1);
  for (const Scalar number : line) y = y * number;
  return y;
}

Line running(const Line& line) {
  Line y;
  for (const Scalar number : line) y.push_back(y.empty() ? number : y.back() + number);
  return y;
}

Naive truth(bool every) {
  return [every](const Step& p, const Blocks& x) -> Blocks {
    Block y = reduced(x[0], p.all_axes(), p.keep, [&](const Line& line) {
      bool all = true, any = false;
      for (const Scalar number : line) (value_of(number) != 0 ? any : all) = value_of(number) != 0;
      return constant(every ? all : any);
    });
    y.dtype = boolean;
    return {y};
  };
}

}  // namespace

std::vector<OpCase> reduction_cases() {
  const Wanted moderate{.low = -8, .high = 8, .rank = 1}, full_one{.empty = false};
  return {
      {"sum", reduces(), GRADUS_CALL(sum(x[0], p.axes, p.keep)),
       over_axes([](const Line& line) { return sum(line); })},
      {"mean", reduces(full_one), GRADUS_CALL(mean(x[0], p.axes, p.keep)), over_axes(mean)},
      {"var", reduces(full_one), GRADUS_CALL(var(x[0], p.axes, {.keepdim = p.keep, .unbiased = p.flag})),
       over_axes(variance), "x0"},
      {"std", reduces(full_one), GRADUS_CALL(x[0].std(p.axes, {.keepdim = p.keep, .unbiased = p.flag})),
       over_axes(deviation), "x0 y"},
      {"prod", reduces({.low = -4, .high = 4}), GRADUS_CALL(prod(x[0], p.axes, p.keep)),
       over_axes(product_of), "x0"},
      {"max", reduces(full_one), GRADUS_CALL(max(x[0], p.axes, p.keep)), over_axes(largest), "x0 y"},
      {"min", reduces(full_one), GRADUS_CALL(min(x[0], p.axes, p.keep)), over_axes([](const Line& line) {
         Line negative;
         for (const Scalar number : line) negative.push_back(-number);
         return -largest(negative);
       }),
       "x0 y"},
      {"norm", norm_of(1), GRADUS_CALL(norm(x[0], 1, p.axes, p.keep)), over_axes(norm_of_line), "x0"},
      {"norm", norm_of(2), GRADUS_CALL(norm(x[0], 2, p.axes, p.keep)), over_axes(norm_of_line), "x0 y"},
      {"norm", norm_of(INFINITY), GRADUS_CALL(norm(x[0], INFINITY, p.axes, p.keep)), over_axes(norm_of_line),
       "x0 y"},
      {"logsumexp", reduces({.low = -8, .high = 8, .empty = false}),
       GRADUS_CALL(logsumexp(x[0], p.axes, p.keep)), over_axes(logsumexp), "x0"},
      {"all", reduces({.floating = false}), GRADUS_CALL(all(x[0], p.axes, p.keep)), truth(true)},
      {"any", reduces({.floating = false}), GRADUS_CALL(any(x[0], p.axes, p.keep)), truth(false)},
      {"cumsum", on_axis(), GRADUS_CALL(cumsum(x[0], p.axis)), along_axis(running)},
      {"softmax", on_axis(moderate), GRADUS_CALL(softmax(x[0], p.axis)), along_axis(softmax), "y?"},
      {"softmax", on_last_axis(moderate), GRADUS_CALL(softmax(x[0], p.axis)), along_axis(softmax), "y"},
      {"log_softmax", on_axis(moderate), GRADUS_CALL(log_softmax(x[0], p.axis)), along_axis(log_softmax),
       "y?"},
      {"log_softmax", on_last_axis(moderate), GRADUS_CALL(log_softmax(x[0], p.axis)), along_axis(log_softmax),
       "y"},
  };
}

}  // namespace gradus::test::graphs
