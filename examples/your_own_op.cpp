// Custom ops: one composed of Tensor functions, one with its own loop, both with second derivatives, and checked.
//
//   log_cosh   y = log cosh x            dx = dy tanh x
//   snake      y = x + sin(a x)^2 / a    dx = dy (1 + sin 2ax)
//                                        da = sum dy (x sin 2ax - sin(ax)^2 / a) / a
//
// log cosh is a loss, quadratic near 0 and linear far out; snake is an activation for periodic functions
// (Ziyin et al. 2020), with a learnable frequency for each channel.

#include <cmath>
#include <cstdio>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [composed]
/// log(cosh(x)) without overflow, composed of Tensor functions: each records a node and saves what it needs.
Tensor composed_log_cosh(const Tensor& x) { return x.abs() + log1p(exp(-2 * x.abs())) - std::log(2.0); }
// [/composed]

// [log_cosh]
/// The same values with one node, which saves only x.
Tensor log_cosh(const Tensor& x) {
  const Tensor y = composed_log_cosh(x.detach());  // detached: records nothing
  return record("log_cosh", y.array(), {&x},
                [x = Saved(x.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  const Tensor dx = Tensor(dy) * tanh(Tensor(of.in(0, x)));
                  if constexpr (kTaped<V>)
                    return {dx};
                  else
                    return {dx.array()};
                });
}
// [/log_cosh]

// [loop]
/// Calls f<T>(row, a, C) for every row of x [..., C], on all threads; T is x's element type.
template <class F>
void for_rows(const Array& x, const Array& a, F f) {
  const std::int64_t channels = a.numel(), rows = channels > 0 ? x.numel() / channels : 0;
  dispatch_floating("snake", x, [&]<class T>() {
    const T* const frequency = a.data<T>();
    parallel_for(rows, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) f.template operator()<T>(row * channels, frequency);
    });
  });
}
// [/loop]

// [derivative]
/// The gradients of snake, made of ops.
std::vector<Tensor> snake_in_ops(const Tensor& dy, const Tensor& x, const Tensor& a) {
  const Tensor wave = sin(a * x), twice = sin(2 * a * x);
  const Tensor da = dy * (x * twice - wave.square() / a) / a;
  return {dy * (1 + twice), da.reshape({-1, a.numel()}).sum(0)};
}
// [/derivative]

// [backward]
Grads snake_backward(const Array& dy, const Array& x, const Array& a, bool need_a) {
  const Array up = dy.contiguous();  // dy may have any strides
  const Array dx = Array::empty(x.shape(), x.dtype()), da = Array::empty(x.shape(), x.dtype());
  for_rows(x, a, [&]<class T>(std::int64_t row, const T* f) {
    const T *const from = x.data<T>() + row, *const g = up.data<T>() + row;
    T *const to = dx.mutable_data<T>() + row, *const of_a = da.mutable_data<T>() + row;
    for (std::int64_t c = 0; c < a.numel(); ++c) {
      const T wave = std::sin(f[c] * from[c]), twice = std::sin(2 * f[c] * from[c]);
      to[c] = g[c] * (1 + twice);
      of_a[c] = g[c] * (from[c] * twice - wave * wave / f[c]) / f[c];
    }
  });
  if (!need_a) return {dx, Array()};  // a is a constant: skip the sum
  return {dx, Tensor(da).reshape({-1, a.numel()}).sum(0).array()};
}
// [/backward]

// [snake]
/// x + sin(a x)^2 / a: x [..., C], a [C] -> [..., C].
Tensor snake(const Tensor& x, const Tensor& a) {
  check_same_dtype("snake", x.array(), a.array(), "x and a");
  check(a.dim() == 1 && x.dim() > 0 && a.size(0) == x.size(-1),
        "snake: expects a [C] for x [..., C], got {} and {}", a.shape(), x.shape());
  const Array in = x.array().contiguous(), freq = a.array().contiguous();
  const Array out = Array::empty(x.shape(), x.dtype());
  const std::int64_t channels = a.size(0);
  for_rows(in, freq, [&]<class T>(std::int64_t row, const T* f) {
    const T* const from = in.data<T>() + row;
    T* const to = out.mutable_data<T>() + row;
    for (std::int64_t c = 0; c < channels; ++c) {
      const T wave = std::sin(f[c] * from[c]);
      to[c] = from[c] + wave * wave / f[c];
    }
  });
  return record("snake", out, {&x, &a},
                [x = Saved(in), a = Saved(freq)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return snake_in_ops(dy, of.in(0, x), of.in(1, a));
                  else
                    return snake_backward(dy, *x, *a, /*need_a=*/of[1]);
                });
}
// [/snake]

/// The same op with a mistake: half the derivative.
Tensor wrong_snake(const Tensor& x, const Tensor& a) {
  const Tensor y = snake(x.detach(), a.detach());
  return record("wrong_snake", y.array(), {&x, &a},
                [=, x = x.array(), a = a.array()](const Array& dy, Needs) -> Grads {
                  return {(Tensor(dy) * (1 + 0.5 * sin(2 * Tensor(a) * Tensor(x)))).array(), Array()};
                });
}

void notes(const char* name, Tensor (*f)(const Tensor&)) {
  const Tensor x = linspace(-3, 3, 5).requires_grad_();
  const std::int64_t before = live_nodes();
  const Tensor y = f(x);
  std::printf("%-18s %2lld", name, static_cast<long long>(live_nodes() - before));
  for (const double value : grad(y.sum(), {x})[0].to_vector<double>()) std::printf(" %7.4f", value);
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("Nodes on the tape, and the gradient at -3, -1.5, 0, 1.5, 3:\n\n");
  notes("composed_log_cosh", composed_log_cosh);
  notes("log_cosh", log_cosh);

  manual_seed(0);
  // [check]
  const Tensor x = randn({2, 3}, f64).requires_grad_();
  const Tensor a = (rand({3}, f64) + 0.5).requires_grad_();
  gradcheck(log_cosh, {x});
  gradcheck(snake, {x, a});
  // [/check]
  std::printf("\nlog_cosh and snake pass gradcheck. With half a derivative in it:\n\n");
  try {
    gradcheck(wrong_snake, {x, a.detach()});
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }

  // [second]
  gradgradcheck(log_cosh, {x});
  gradgradcheck(snake, {x, a});
  // [/second]
  std::printf("\nBoth pass gradgradcheck. wrong_snake, with a backward for Arrays alone:\n\n");
  try {
    gradgradcheck(wrong_snake, {x, a.detach()});
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }

  // [use]
  struct Snake : nn::Module {
    explicit Snake(std::int64_t channels) : a(parameter("a", ones({channels}))) {}
    Tensor operator()(const Tensor& in) const { return snake(in, a); }
    nn::Parameter a;
  };
  const nn::Sequential net(nn::Linear(1, 16), Snake(16), nn::Linear(16, 1));
  optim::RAdam opt(net.parameters(), {.lr = 2e-2});
  const Tensor t = linspace(-6, 6, 200).reshape({200, 1}), wave = sin(2 * t) + 0.3 * t;
  double loss_at_first = 0, loss_at_last = 0;
  for (int step = 0; step < 600; ++step) {
    const Tensor loss = log_cosh(net(t) - wave).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    (step == 0 ? loss_at_first : loss_at_last) = loss.item();
  }
  // [/use]
  std::printf("\nA net of 16 snakes learns sin 2t + 0.3 t from 200 points: loss %.2f at first, then %s.\n",
              loss_at_first, loss_at_last < 0.01 ? "below 0.01" : "no better");
}
