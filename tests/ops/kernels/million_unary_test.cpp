// Unary kernels and their gradients on a million values of every size, on every instruction set.

#include "gradus/core/threads/parallel.h"
#include "kernel_test.h"
#include "references.h"

namespace gradus::test {
namespace {

using kernels::Unary;
using kernels::UnaryGrad;

// How many ulps a kernel may be off. The far tails of the activations are exp(u) for a large negative u, and
// carry u's rounding error of |u| / 2 ulp; where only a denormal is left, x times the error of a denormal.
template <class T>
double allowed(Unary op, T value) {
  const double x = std::fmax(-45.0, std::fmin(0.0, static_cast<double>(value)));
  switch (op) {
    case Unary::neg:
    case Unary::abs:
    case Unary::square:
    case Unary::sqrt:
    case Unary::reciprocal:
    case Unary::relu:
    case Unary::sign:
    case Unary::floor:
    case Unary::ceil:
    case Unary::round:
      return 0.5;
    case Unary::sigmoid:
      return 3;
    case Unary::gelu:
      return 5 + 2 * x * x;
    case Unary::gelu_tanh:
      return 5 + 4 * std::fabs(static_cast<double>(tanh_argument(x)));
    case Unary::silu:
      return value < -87 ? 750 : 4;
    default:
      return 2;
  }
}

/// f(i) for the million, on all threads: references are slow.
template <class F>
void at_each(F f) {
  parallel_for(million, 10'000, [&](I begin, I end) {
    for (I i = begin; i < end; ++i) f(static_cast<std::size_t>(i));
  });
}

template <class T>
bool right(Unary op, T x, T y, Wide<T> want) {
  if (want == 0 && y == 0 && op != Unary::relu) return std::signbit(want) == std::signbit(y);
  return ulps(y, want) <= allowed(op, x);
}

TEST_CASE_TEMPLATE("unary kernels are accurate on a million values", T, float, double) {
  const std::vector<T> x = hard_values<T>(million);
  std::vector<T> y(x.size());
  std::vector<Wide<T>> want(x.size());
  for (int code = 0; code < static_cast<int>(Unary::count); ++code) {
    const Unary op = static_cast<Unary>(code);
    CAPTURE(code);
    at_each([&](std::size_t i) { want[i] = reference<Wide<T>>(op, x[i]); });
    on_every_isa<T>([&](const kernels::Table<T>& table) {
      table.unary[code](million, x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (right(op, x[i], y[i], want[i])) continue;
        CAPTURE(x[i]);
        CAPTURE(y[i]);
        CAPTURE(static_cast<double>(want[i]));
        FAIL("wrong value or sign of zero, by ulps: ", ulps(y[i], want[i]));
      }
    });
  }
}

/// A gradient's rounding errors are in proportion to its terms, and to how far the kernel's exponent u, which
/// is rounded, lies from 0. `factor` is by how much the error of a denormal grows.
template <class T>
Wide<T> grad_allowed(UnaryGrad op, T x, T dy, const Slope<Wide<T>>& slope) {
  const double size = std::fabs(static_cast<double>(x)), v = size < 40 ? size : 40;
  double epsilons = 3, factor = size < 800 ? 1 + size : 800;
  if (op == UnaryGrad::gelu || op == UnaryGrad::erf) epsilons += v * v;
  if (op == UnaryGrad::gelu_tanh) epsilons += 2 * std::fabs(tanh_argument(v)), factor = 2 + v * v * v;
  const Wide<T> dy_size = std::fabs(static_cast<Wide<T>>(dy));
  return epsilons * eps<T> * slope.size * dy_size +
         factor * (1 + dy_size) * std::numeric_limits<T>::denorm_min();
}

/// What forward saves: y of tanh and sigmoid, which lies in [-1, 1], else any x.
template <class T>
std::vector<T> saved_values(UnaryGrad op) {
  std::vector<T> saved = hard_values<T>(million, 3);
  if (op != UnaryGrad::tanh && op != UnaryGrad::sigmoid) return saved;
  for (T& v : saved) v = op == UnaryGrad::tanh ? std::tanh(v) : logistic(v);
  return saved;
}

TEST_CASE_TEMPLATE("unary gradients are accurate on a million values", T, float, double) {
  std::vector<T> dy = normal_values<T>(million, 4), dx(dy.size());
  std::vector<Slope<Wide<T>>> want(dy.size());
  for (int code = 0; code < static_cast<int>(UnaryGrad::count); ++code) {
    const UnaryGrad op = static_cast<UnaryGrad>(code);
    CAPTURE(code);
    const std::vector<T> saved = saved_values<T>(op);
    at_each([&](std::size_t i) { want[i] = slope<Wide<T>>(op, saved[i]); });
    on_every_isa<T>([&](const kernels::Table<T>& table) {
      table.unary_grad[code](million, saved.data(), dy.data(), dx.data());
      for (std::size_t i = 0; i < dy.size(); ++i) {
        const Wide<T> exact = dy[i] * want[i].value;
        if (std::isnan(exact) ? std::isnan(dx[i])
                              : std::fabs(dx[i] - exact) <= grad_allowed(op, saved[i], dy[i], want[i]))
          continue;
        CAPTURE(saved[i]);
        CAPTURE(dy[i]);
        CAPTURE(dx[i]);
        CAPTURE(static_cast<double>(exact));
        FAIL("wrong gradient");
      }
    });
  }
}

}  // namespace
}  // namespace gradus::test
