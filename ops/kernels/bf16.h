#pragma once
// Matrix products of f32 whose operands are rounded to bf16 on the way: C = alpha A' B' + beta D + bias, or
// its ReLU, where A' and B' are A and B rounded to bf16 and all sums are f32.
//
// B may be stored in bf16 (Product::weight): it is then read as it is, half the memory of f32.
//
// Two bf16 have an exact product in f32, so an addition is all that rounds. Every element of C is one chain
// of additions, 512 of k at a time, within them pair after pair, and of a pair the second first, as
// AVX512-BF16 does it. A CPU without the instruction takes the same steps in f32, so all instruction sets
// give the same bits, with two exceptions below f32's normal range, 2^-126: AVX512-BF16 takes operands there
// for 0 and makes sums there 0. Each of them changes a sum by less than 2^-126 times the largest operand, or
// 1 if that is larger.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::kernels {

/// Of k in one chain of sums; each chain is then added to C.
inline constexpr std::int64_t kBf16Depth = 512;

/// Of one tile; m, n, k >= 1. By AVX512-BF16 where this CPU has it and avx512 is the instruction set in use.
void gemm_bf16(const Product<float>& product);

/// The same with the f32 kernels of the instruction set in use, on rounded copies: slower than f32.
void gemm_bf16_by_f32(const Product<float>& product);

/// On CPUs that have it: kernels_avx512bf16.cpp.
void gemm_avx512bf16(const Product<float>& product);

}  // namespace gradus::kernels
