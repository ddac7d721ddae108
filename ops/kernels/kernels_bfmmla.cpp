// The bf16 product by ARM's BFMMLA, whose instruction multiplies two rows of A, four numbers each, with two
// columns of B, and adds each of the four results to an f32. A block of C, eight rows by eight columns, stays
// in registers while k passes. Both operands are rounded as they are copied to panels, always, and both into
// the same layout, since a column of B is a row of its transpose: panels of eight rows, in steps of four
// along k, in which the numbers of each row lie together. A weight stored in bf16 is only rearranged.

#include "gradus/ops/kernels/bf16.h"
#include "gradus/ops/kernels/vec_neon.h"

namespace gradus::kernels {
namespace {

using I = std::int64_t;
using Bits = std::uint16_t;  // of a bf16
using V = Vec<float>;

constexpr I kSide = 8;                    // rows and columns of a block
constexpr I kDeep = 4, kPair = 8;         // of k in a step; numbers in a register: a step of two rows
constexpr I kStep = kSide * kDeep;        // numbers in a step of a panel,
constexpr I kPanel = kSide * kBf16Depth;  // and in a panel
constexpr I kRowsAtATime = 48;            // of A: 48 KiB, which stay in the first-level cache
#ifdef __APPLE__                          // whose threads have small stacks
constexpr I kColumnsAtATime = 128;
#else
constexpr I kColumnsAtATime = 384;  // of B: 384 KiB, which stay in the second-level cache
#endif

/// What a block of sums is added to.
struct Output {
  float* c;
  I ldc;
  float alpha, beta;
  const float* d;
  I ldd;
  const float* bias;
  bool relu;

  /// Sums of a row, of which the first `there`, 1 or more, are there.
  void write(float32x4_t sums, I row, I column, I there) const {
    const auto load = [there](const float* x) { return there < V::lanes ? V::load(x, there) : V::load(x); };
    V y = V(alpha) * V(sums);
    if (beta != 0) y = fma(V(beta), load(d + row * ldd + column), y);
    if (bias) y = y + load(bias + column);
    if (relu) y = vmaxq_f32(y.v, vdupq_n_f32(0));  // NaN where y is
    float* const to = c + row * ldc + column;
    there < V::lanes ? y.store(to, there) : y.store(to);
  }
  Output at(I row, I column) const {
    Output moved = *this;
    moved.c += row * ldc + column;
    if (beta != 0) moved.d += row * ldd + column;
    if (bias) moved.bias += column;
    return moved;
  }
  /// Of the part of k that begins at p and ends at `end` of x.k.
  static Output of(const Product<float>& x, I p, I end) {
    Output out{x.c, x.ldc, x.alpha, x.beta, x.d, x.ldd, x.bias, x.relu && end == x.k};
    if (p > 0) out.beta = 1, out.d = x.c, out.ldd = x.ldc, out.bias = nullptr;
    return out;
  }
};

bfloat16x8_t load(const Bits* x) { return vreinterpretq_bf16_u16(vld1q_u16(x)); }

/// Eight numbers in memory, rounded; what is beyond the first n is 0.
uint16x8_t eight(const float* x, I n) {
  float some[8] = {};
  if (n < 8) __builtin_memcpy(some, x, static_cast<std::size_t>(n) * sizeof(float)), x = some;
  return vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(vld1q_f32(x)), vld1q_f32(x + 4)));
}

uint16x8_t eight(const BFloat16* x, I n) {
  const Bits* bits = &x->bits;
  Bits some[8] = {};
  if (n < 8) __builtin_memcpy(some, bits, static_cast<std::size_t>(n) * sizeof(Bits)), bits = some;
  return vld1q_u16(bits);
}

uint64x2_t as_64(uint16x8_t x) { return vreinterpretq_u64_u16(x); }
uint16x8_t as_16(uint64x2_t x) { return vreinterpretq_u16_u64(x); }

/// x [rows, k] into panels; what is missing of the last one, and of the last step, is 0.
template <class T>
void pack(I rows, I k, const Operand<T>& x, Bits* panels) {
  if (x.transposed) {
    for (I p = 0; p < k; p += kDeep)
      for (I i = 0; i < rows; i += kSide) {
        const auto at = [&](I q) { return q < k ? eight(x.data + q * x.ld + i, rows - i) : vdupq_n_u16(0); };
        const uint16x8x4_t step = {{at(p), at(p + 1), at(p + 2), at(p + 3)}};
        vst4q_u16(panels + i * kBf16Depth + p * kSide, step);
      }
    return;
  }
  for (I i = 0; i < rows || i % kSide != 0; i += 2) {
    Bits* const to = panels + i / kSide * kPanel + i % kSide * kDeep;
    for (I p = 0; p < k; p += 2 * kDeep) {
      const auto at = [&](I r) {
        return as_64(r < rows ? eight(x.data + r * x.ld + p, k - p) : vdupq_n_u16(0));
      };
      const uint64x2_t first = at(i), second = at(i + 1);
      vst1q_u16(to + p * kSide, as_16(vzip1q_u64(first, second)));
      vst1q_u16(to + p * kSide + kStep, as_16(vzip2q_u64(first, second)));
    }
  }
}

float64x2_t as_pairs(float32x4_t x) { return vreinterpretq_f64_f32(x); }

/// Rows of a panel of A, in `pairs`, of which the last may lack its second, under a panel of B.
template <int pairs>
void block(I steps, const Bits* a, const Bits* b, I rows, I columns, const Output& out) {
  float32x4_t sums[pairs][4];  // two rows and two columns each
#pragma GCC unroll 4
  for (int r = 0; r < pairs; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) sums[r][c] = vdupq_n_f32(0);
  for (I s = 0; s < steps; ++s, a += kStep, b += kStep) {
    bfloat16x8_t left[pairs];
#pragma GCC unroll 4
    for (int r = 0; r < pairs; ++r) left[r] = load(a + r * kPair);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const bfloat16x8_t right = load(b + c * kPair);
#pragma GCC unroll 4
      for (int r = 0; r < pairs; ++r) sums[r][c] = vbfmmlaq_f32(sums[r][c], left[r], right);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < pairs; ++r)
#pragma GCC unroll 2
    for (int c = 0; c < 4; c += 2) {
      if (columns <= 2 * c) break;
      const float64x2_t x = as_pairs(sums[r][c]), y = as_pairs(sums[r][c + 1]);
      out.write(vreinterpretq_f32_f64(vzip1q_f64(x, y)), 2 * r, 2 * c, columns - 2 * c);
      if (2 * r + 1 < rows)
        out.write(vreinterpretq_f32_f64(vzip2q_f64(x, y)), 2 * r + 1, 2 * c, columns - 2 * c);
    }
}

constexpr auto block_of(I rows) {
  return rows > 6 ? block<4> : rows > 4 ? block<3> : rows > 2 ? block<2> : block<1>;
}

template <class T>
void multiply(const Product<float>& x, const Operand<T>& b) {
  alignas(64) Bits left[kRowsAtATime * kBf16Depth];
  alignas(64) Bits right[kColumnsAtATime * kBf16Depth];
  const auto smaller = [](I u, I v) { return u < v ? u : v; };
  // A panel of B that is used once is best used at once. Across rows, they are read for many panels.
  const bool once = x.m <= kRowsAtATime;
  const I width = once && b.transposed ? kSide : kColumnsAtATime;
  for (I p = 0; p < x.k; p += kBf16Depth) {
    const I depth = smaller(x.k - p, kBf16Depth), steps = (depth + kDeep - 1) / kDeep;
    const Output out = Output::of(x, p, p + depth);
    for (I j = 0; j < x.n; j += width) {
      const I columns = smaller(x.n - j, width);
      pack(columns, depth, Operand<T>{b.data, b.ld, !b.transposed}.from(j, p), right);
      for (I i = 0; i < x.m; i += kRowsAtATime) {
        const I rows = smaller(x.m - i, kRowsAtATime);
        if (!once || j == 0) pack(rows, depth, x.a.from(i, p), left);
        for (I c = 0; c < columns; c += kSide)
          for (I r = 0; r < rows; r += kSide)
            block_of(rows - r)(steps, left + r * kBf16Depth, right + c * kBf16Depth, rows - r, columns - c,
                               out.at(i + r, j + c));
      }
    }
  }
}

}  // namespace

void gemm_bfmmla(const Product<float>& x) {
  x.weight ? multiply(x, Operand<BFloat16>{x.weight, x.b.ld, true}) : multiply(x, x.b);
}

}  // namespace gradus::kernels
