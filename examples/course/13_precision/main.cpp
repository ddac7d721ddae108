// What f32, bf16 and f16 can hold, and what sums, norms, losses, updates and gradients lose in 16 bits.
// Its chapter: docs/course/13_precision/README.md

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {
using Round = float (*)(float);
// [nearest]
/// The float nearest to x with fewer bits of fraction; of two equally near, the one that ends in 0.
float nearest(float x, int fraction) {
  const int dropped = 23 - fraction;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + (1u << (dropped - 1)) - 1 + (bits >> dropped & 1)) >> dropped << dropped;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}
float as_f32(float x) { return x; }
float as_bf16(float x) { return nearest(x, 7); }
float as_f16(float x) {
  if (std::abs(x) < 0x1p-14f) return x < 0 ? 0.5f - (0.5f - x) : (0.5f + x) - 0.5f;  // in steps of 2^-24
  return std::abs(x) < 65520 ? nearest(x, 10) : x * INFINITY;
}
// [/nearest]

Tensor rounded(const Tensor& x, Round r) {
  std::vector<float> values = x.to_vector<float>();
  for (float& value : values) value = r(value);
  return from_vector(values, x.shape());
}

/// A line with f for each of the three types.
void row(const std::string& name, int digits, const std::function<double(Round)>& f) {
  std::printf("%-*s", name[0] == '\n' ? 43 : 42, name.c_str());
  for (const Round r : {as_f32, as_bf16, as_f16}) {
    const double y = f(r);
    std::isnan(y) ? std::printf("%12s", "NaN") : std::printf("%12.*g", digits, y);
  }
  std::printf("\n");
}

/// How far x is from want, in percent of want.
double off(const Tensor& x, const Tensor& want) { return 100 * ((x - want).norm() / want.norm()).item(); }

// [sum]
/// Term after term, rounded after each addition.
float sum(const Tensor& x, Round r) {
  float total = 0;
  for (const float value : x.to_vector<float>()) total = r(total + value);
  return total;
}
// [/sum]

// [norm]
float mean(const Tensor& x, Round r) { return r(sum(x, r) / static_cast<float>(x.numel())); }
float mean_square(const Tensor& x, Round r) { return mean(rounded(x.square(), r), r); }
Tensor centred(const Tensor& x, Round r) { return rounded(x - mean(x, r), r); }
float variance(const Tensor& x, Round r) { return mean_square(centred(x, r), r); }
float one_pass(const Tensor& x, Round r) { return r(mean_square(x, r) - r(mean(x, r) * mean(x, r))); }
Tensor norm(const Tensor& x, Round r) { return rounded(centred(x, r) / r(std::sqrt(variance(x, r))), r); }
// [/norm]

// [dots]
/// Rows of x times rows of w, [100, d]. The terms are exact in f32; the sums are rounded after each addition.
Tensor dots(const Tensor& x, const Tensor& w, Round r, Round r_sum) {
  const Tensor terms = rounded(x, r) * rounded(w, r), y = zeros({100});
  for (int i = 0; i < 100; ++i) y[i] = sum(terms[i], r_sum);
  return y;
}
// [/dots]

}  // namespace

int main() {
  std::printf("%54s%12s%12s\n", "f32", "bf16", "f16");
  for (const char* x : {"0.1", "1e-8", "100000"}) row(x, 6, [&](Round r) { return r(std::stof(x)); });
  manual_seed(0);
  for (const int n : {100, 1000, 10000, 20000000})
    row("sum of " + std::to_string(n) + " ones", 8, [&](Round r) { return sum(ones({n}), r); });
  row("loss of a blind guess among 50257", 4, [](Round r) { return r(std::log(sum(ones({50257}), r))); });
  const Tensor z = layer_norm(randn({768}).to(f64)).to(f32);  // mean 0, variance 1
  for (const int m : {0, 10, 100, 1000}) {
    const auto x = [&](Round r) { return rounded(z + m, r); };
    row("\nmean " + std::to_string(m) + ", variance", 4, [&](Round r) { return variance(x(r), r); });
    row("  mean of x^2, minus mean^2", 4, [&](Round r) { return one_pass(x(r), r); });
    row("  norm off by %", 3, [&](Round r) { return off(norm(x(r), r), z); });
    row("  the same, f32 inside", 3, [&](Round r) { return off(norm(x(r), as_f32), z); });
  }
  for (const char* update : {"\n0.001", "0.0001"})
    row(update + std::string(" off a weight of 1, 1000 times"), 4, [&](Round r) {
      float w = 1;
      for (int step = 0; step < 1000; ++step) w = r(w - std::stof(update));
      return w;
    });
  const Tensor x = randn({100000}), f = randn(x.shape());
  for (const int s : {1, 10, 100, 1000})
    row("stream of " + std::to_string(s) + ": a branch off by %", 3,
        [&](Round r) { return off(rounded(rounded(s * x, r) + f, r) - rounded(s * x, r), f); });
  for (const std::int64_t d : {64, 1024, 16384}) {
    const Tensor a = randn({100, d}), b = randn({100, d}), y = (a.to(f64) * b.to(f64)).sum(-1).to(f32);
    row("\n" + std::to_string(d) + " terms, off by %", 3, [&](Round r) { return off(dots(a, b, r, r), y); });
    row("  the same, sums in f32", 3, [&](Round r) { return off(dots(a, b, r, as_f32), y); });
  }
  const Tensor logits = (2 * randn({64, 1000})).requires_grad_();
  (cross_entropy(logits, randint(0, 1000, {64})) * 64 / 8192).backward();  // 64 tokens of a batch of 8192
  for (const int power : {0, 8, 16, 30})
    row((power ? "lost %, loss * 2^" : "\nlost %, loss * 2^") + std::to_string(power), 3, [&](Round r) {
      const Tensor arrives = rounded(std::ldexp(1.0, power) * logits.grad(), r) / logits.grad();
      return 100 - 100 * log(arrives).isfinite().to(f32).mean().item();
    });
}
