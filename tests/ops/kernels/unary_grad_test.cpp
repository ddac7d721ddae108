// Gradients of unary kernels against references in a wider type, on every instruction set.

#include "kernel_test.h"
#include "references.h"

namespace gradus::test {
namespace {

using kernels::UnaryGrad;

constexpr int grad_count = static_cast<int>(UnaryGrad::count);

// The derivative, and the sum of the sizes of its terms: its rounding errors are in proportion to that.
template <class R>
struct Slope {
  R value, size;
};

template <class R>
Slope<R> slope(UnaryGrad op, R x) {
  const auto sum = [](R a, R b) { return Slope<R>{a + b, std::fabs(a) + std::fabs(b)}; };
  const R tau = 2 * std::acos(R(-1)), u = std::fmax(R(-40), std::fmin(R(40), x));
  switch (op) {
    case UnaryGrad::tanh:
      return sum(1, -x * x);
    case UnaryGrad::sigmoid:
      return sum(x, -x * x);
    case UnaryGrad::relu:
      return {R(x > 0), 1};
    case UnaryGrad::gelu:
      return sum(normal_cdf(u), u * std::exp(-u * u / 2) / std::sqrt(tau));
    case UnaryGrad::gelu_tanh: {
      const R v = tanh_argument(u), inner = 2 * std::sqrt(4 / tau) * (1 + 3 * R(0.044715L) * u * u);
      return sum(logistic(v), u * inner * logistic(v) * logistic(-v));
    }
    case UnaryGrad::silu:
      return sum(logistic(u), u * logistic(u) * logistic(-u));
    case UnaryGrad::erf:
      return sum(2 * std::exp(-x * x) / std::sqrt(tau / 2), 0);
    case UnaryGrad::sin:
      return sum(std::cos(x), 0);
    case UnaryGrad::cos:
      return sum(-std::sin(x), 0);
    case UnaryGrad::count:
      break;
  }
  return {0, 0};
}

TEST_CASE_TEMPLATE("unary gradients are accurate", T, float, double) {
  std::vector<T> x = normal_values<T>(5000, 3, 2);
  for (T v : {T(0), T(-0.0), T(1e-30), T(-15), T(15), T(-30), T(30)}) x.push_back(v);
  const std::vector<T> dy = normal_values<T>(static_cast<I>(x.size()), 4);
  std::vector<T> dx(x.size());
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < grad_count; ++op) {
      CAPTURE(op);
      table.unary_grad[op](static_cast<I>(x.size()), x.data(), dy.data(), dx.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto [value, size] = slope<Wide<T>>(static_cast<UnaryGrad>(op), x[i]);
        const Wide<T> want = dy[i] * value;
        const Wide<T> amplified = 8 + static_cast<Wide<T>>(x[i]) * x[i];  // exp(-x^2) of a rounded x^2
        const Wide<T> bound = amplified * eps<T> * std::fabs(dy[i]) * size + std::numeric_limits<T>::min();
        CAPTURE(x[i]);
        if (!(std::fabs(dx[i] - want) <= bound)) CHECK(dx[i] == static_cast<T>(want));
      }
    }
  });
}

TEST_CASE_TEMPLATE("activation gradients have their limits at the infinities, and pass NaN on", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T x[3] = {-infinity, infinity, std::numeric_limits<T>::quiet_NaN()}, dy[3] = {2, 2, 2};
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (UnaryGrad op : {UnaryGrad::gelu, UnaryGrad::gelu_tanh, UnaryGrad::silu}) {
      T dx[3];
      table.unary_grad[static_cast<int>(op)](3, x, dy, dx);
      CHECK(dx[0] == 0);
      CHECK(dx[1] == 2);
      CHECK(std::isnan(dx[2]));
    }
  });
}

TEST_CASE_TEMPLATE("unary gradients at every tail: same bits, nothing written outside, in place too", T,
                   float, double) {
  const std::vector<T> x = hard_values<T>(70), dy = normal_values<T>(70, 5);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < grad_count; ++op) {
      CAPTURE(op);
      std::vector<T> want(70);
      for (I i = 0; i < 70; ++i) table.unary_grad[op](1, x.data() + i, dy.data() + i, want.data() + i);
      at_every_tail([&](I n, I offset) {
        Guarded<T> in(x, n, offset), grad(dy, n, offset), out(n, offset);
        table.unary_grad[op](n, in.data(), grad.data(), out.data());
        table.unary_grad[op](n, in.data(), grad.data(), grad.data());
        bool equal = out.intact() && in.intact() && grad.intact();
        for (I i = 0; i < n; ++i)
          equal = equal && same(out[i], want[static_cast<std::size_t>(i)]) && same(grad[i], out[i]);
        CHECK(equal);
      });
    }
  });
}

}  // namespace
}  // namespace gradus::test
