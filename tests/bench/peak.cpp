#include "bench/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gradus/gradus.h"
#include "gradus/ops/kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gradus::bench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kRounds = 1'000'000;

// Twelve sums at once: the units take two multiply-adds a cycle, each of which is finished four cycles later.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] float multiply_add_avx512() {
  __m512 y[12] = {}, x = _mm512_set1_ps(0.999f);
  for (auto& v : y) v = x;
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (auto& v : y) v = _mm512_fmadd_ps(v, x, x);
  for (auto& v : y) y[0] = _mm512_add_ps(y[0], v);
  return y[0][0];
}

[[gnu::target("avx2,fma")]] float multiply_add_avx2() {
  __m256 y[12] = {}, x = _mm256_set1_ps(0.999f);
  for (auto& v : y) v = x;
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (auto& v : y) v = _mm256_fmadd_ps(v, x, x);
  for (auto& v : y) y[0] = _mm256_add_ps(y[0], v);
  return y[0][0];
}
#elif defined(__aarch64__)
// Twice as many: four units are found on large cores.
float multiply_add_neon() {
  float32x4_t y[24] = {};
  const float32x4_t x = vdupq_n_f32(0.999f);
  for (auto& v : y) v = x;
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (auto& v : y) v = vfmaq_f32(x, v, x);
  for (auto& v : y) y[0] = vaddq_f32(y[0], v);
  return vgetq_lane_f32(y[0], 0);
}
#endif

float multiply_add_plain() {
  float y[64], x = 0.999f, sum = 0;
  std::fill(y, y + 64, x);
  for (std::int64_t i = 0; i < kRounds; ++i)
    for (float& v : y) v = v * x + x;
  for (const float v : y) sum += v;
  return sum;
}

struct Loop {
  float (*run)();
  double flops;
};

Loop loop() {
#if defined(__x86_64__)
  if (current_isa() == Isa::avx512) return {multiply_add_avx512, 2.0 * 16 * 12 * kRounds};
  if (current_isa() == Isa::avx2) return {multiply_add_avx2, 2.0 * 8 * 12 * kRounds};
#elif defined(__aarch64__)
  if (current_isa() == Isa::neon) return {multiply_add_neon, 2.0 * 4 * 24 * kRounds};
#endif
  return {multiply_add_plain, 2.0 * 64 * kRounds};
}

constexpr std::int64_t kElements = 64 << 20, kPiece = 1 << 20;  // 256 MiB: no cache holds it

/// The best of a second of runs over all pieces on the pool, in seconds: a shared machine has slow moments.
template <class F>
double fastest(F f, std::int64_t n = kElements, std::int64_t piece = kPiece) {
  double best = 1e9;
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) {
    const auto start = Clock::now();
    parallel_for(n, piece, f);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

double peak_flops() {
  const Loop one = loop();
  const std::int64_t chunks = 4 * num_threads();
  volatile float sink = 0;
  const double seconds = fastest([&](std::int64_t, std::int64_t) { sink = one.run(); }, chunks, 1);
  return one.flops * static_cast<double>(chunks) / seconds;
}

double read_bandwidth() {
  const Tensor x = ones({kElements});
  const float* data = x.array().data<float>();
  volatile float sink = 0;
  return 4.0 * kElements / fastest([&](std::int64_t begin, std::int64_t end) {
           sink = kernels::table<float>().sum(end - begin, data + begin);
         });
}

double update_bandwidth() {
  Array x = ones({kElements}).array();
  float* data = x.mutable_data<float>();
  return 8.0 * kElements / fastest([&](std::int64_t begin, std::int64_t end) {
           kernels::table<float>().scale(end - begin, 1, data + begin, data + begin);
         });
}

double copy_bandwidth() {
  const Tensor x = ones({kElements});
  Array y = zeros({kElements}).array();
  const float* from = x.array().data<float>();
  float* to = y.mutable_data<float>();
  return 8.0 * kElements / fastest([&](std::int64_t begin, std::int64_t end) {
           std::copy(from + begin, from + end, to + begin);
         });
}

}  // namespace gradus::bench
