// Unary kernels against references in a wider type, on every instruction set.

#include "kernel_test.h"
#include "references.h"

namespace gradus::test {
namespace {

using kernels::Unary;

constexpr int unary_count = static_cast<int>(Unary::count);

template <class R>
R reference(Unary op, R x) {
  const bool bottom = x == -std::numeric_limits<R>::infinity();
  switch (op) {
    case Unary::neg:
      return -x;
    case Unary::abs:
      return std::fabs(x);
    case Unary::square:
      return x * x;
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::rsqrt:
      return 1 / std::sqrt(x);
    case Unary::reciprocal:
      return 1 / x;
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::log1p:
      return std::log1p(x);
    case Unary::sin:
      return std::sin(x);
    case Unary::cos:
      return std::cos(x);
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid:
      return logistic(x);
    case Unary::relu:
      return x < 0 ? 0 : x;
    case Unary::gelu:
      return bottom ? -R(0) : x * normal_cdf(x);
    case Unary::gelu_tanh:
      return bottom ? -R(0) : x * logistic(tanh_argument(x));
    case Unary::silu:
      return bottom ? -R(0) : x * logistic(x);
    case Unary::erf:
      return std::erf(x);
    case Unary::sign:
      return x > 0 ? R(1) : x < 0 ? R(-1) : x;
    case Unary::count:
      break;
  }
  return 0;
}

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
    case Unary::relu:
    case Unary::sign:
      return 0.5;
    case Unary::reciprocal:
      return 0.5;
    case Unary::rsqrt:
      return 2;
    case Unary::sigmoid:
      return 3;
    case Unary::gelu:
      return 5 + 2 * x * x;
    case Unary::gelu_tanh:
      return 5 + 4 * std::fabs(static_cast<double>(tanh_argument(x)));
    case Unary::silu:
      return value < -87 ? 750 : 4;
    default:
      return std::is_same_v<T, float> ? 2 : 3;  // in double, what libm gives
  }
}

template <class T>
void check_values(const std::vector<T>& x) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    std::vector<T> y(x.size());
    for (int op = 0; op < unary_count; ++op) {
      CAPTURE(op);
      table.unary[op](static_cast<I>(x.size()), x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto want = reference<Wide<T>>(static_cast<Unary>(op), x[i]);
        const double error = ulps(y[i], want);
        const bool sign_matters = want == 0 && y[i] == 0 && static_cast<Unary>(op) != Unary::relu;
        if (error <= allowed(static_cast<Unary>(op), x[i]) &&
            !(sign_matters && std::signbit(want) != std::signbit(y[i])))
          continue;
        CAPTURE(x[i]);
        CAPTURE(y[i]);
        CAPTURE(static_cast<double>(want));
        CHECK(error <= allowed(static_cast<Unary>(op), x[i]));
        FAIL("wrong value or sign of zero");
      }
    }
  });
}

TEST_CASE_TEMPLATE("unary kernels are accurate on hard values", T, float, double) {
  check_values(hard_values<T>(20000));
}

TEST_CASE("f32 exp, tanh, erf, log, log1p, sin and cos are within 2 ulp on a million values of all sizes") {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 4099) {
    const std::uint32_t low = static_cast<std::uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    x.push_back(value);
  }
  std::vector<float> y(x.size());
  for (Unary op : {Unary::exp, Unary::tanh, Unary::erf, Unary::log, Unary::log1p, Unary::sin, Unary::cos}) {
    std::vector<double> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = reference<double>(op, x[i]);
    on_every_isa<float>([&](const kernels::Table<float>& table) {
      CAPTURE(static_cast<int>(op));
      table.unary[static_cast<int>(op)](static_cast<I>(x.size()), x.data(), y.data());
      double worst = 0;
      float at = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (ulps(y[i], want[i]) > worst) worst = ulps(y[i], want[i]), at = x[i];
      CAPTURE(at);
      CHECK(worst <= 2);
    });
  }
}

TEST_CASE_TEMPLATE("unary kernels at every tail: same bits, nothing written outside, in place too", T, float,
                   double) {
  const std::vector<T> x = hard_values<T>(70);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < unary_count; ++op) {
      CAPTURE(op);
      std::vector<T> want(70);
      for (I i = 0; i < 70; ++i) table.unary[op](1, x.data() + i, want.data() + i);
      at_every_tail([&](I n, I offset) {
        Guarded<T> in(x, n, offset), out(n, offset);
        table.unary[op](n, in.data(), out.data());
        table.unary[op](n, in.data(), in.data());
        bool equal = out.intact() && in.intact();
        for (I i = 0; i < n; ++i)
          equal = equal && same(out[i], want[static_cast<std::size_t>(i)]) && same(in[i], out[i]);
        CHECK(equal);
      });
    }
  });
}

}  // namespace
}  // namespace gradus::test
