#pragma once
// Matrix products of f32 whose operands are rounded to bf16 on the way: C = alpha A' B' + beta D + bias, or
// its ReLU, where A' and B' are A and B rounded to bf16 and all sums are f32.
//
// B may be stored in bf16 (Product::weight): it is then read as it is, half the memory of f32.
//
// Two bf16 have an exact product in f32's normal range, so an addition is all that rounds. There are
// three orders of additions. An element of C depends on its row of A, its column of B and what is added to it
// only, in each; of a NaN by AMX, sign and payload may depend on the shape as well.
//
// AVX512-BF16 and f32: one chain of additions, 512 of k at a time, within them pair after pair, and of a pair
// the second first, as AVX512-BF16 does it. A CPU without the instruction takes the same steps in f32, so all
// instruction sets give the same bits.
//
// AMX: 1024 of k at a time, within them 32 at a time. Of 32, the products with an even place are summed in
// order, so are those with an odd place, and the sum of these two sums is added to the element's. That is as
// the instruction does it; its bits differ from the others'. On its way into a sum of k terms each is rounded
// at most k times, k / 32 + 16, or k / 1024 + 47, whichever is least, where the others have the lesser of k
// and k / 512 + 511.
//
// BFMMLA, of ARM's FEAT_BF16: 512 of k at a time, within them pair after pair: the two products of a pair are
// summed, and their sum is added to the element's. Both additions round to odd: an inexact sum becomes that
// of its two neighbors in f32 whose last bit is 1. That is off by up to 2^-23 of it, the nearest by 2^-24: as
// two roundings to the nearest. So counted, a term is rounded at most k + 1 times, or k / 512 + 512. Every
// NaN is 0x7fc00000. (Where a CPU has FEAT_EBF16 and a program sets FPCR.EBF, sums round in another way.)
//
// Below f32's normal range, 2^-126, AVX512-BF16, AMX and BFMMLA differ from f32: they take operands there for
// 0 and make sums there 0, BFMMLA products as well. Each of them changes a sum by less than 2^-126 times the
// largest operand, or 1 if that is larger. A product beyond f32's range is infinite where it is rounded
// before it is added, as the scalar kernels and BFMMLA do; elsewhere its sum may be finite.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::kernels {

/// Of k in one chain of sums; each chain is then added to C.
inline constexpr std::int64_t kBf16Depth = 512, kAmxDepth = 1024;

/// Of one tile; m, n, k >= 1. By bf16_backend_in_use().
void gemm_bf16(const Product<float>& product);

/// The same with the f32 kernels of the instruction set in use, on rounded copies: slower than f32.
void gemm_bf16_by_f32(const Product<float>& product);

// On CPUs that have the instructions.
void gemm_avx512bf16(const Product<float>& product);
void gemm_amx(const Product<float>& product);
void gemm_bfmmla(const Product<float>& product);

/// gemm_amx with memory for packed operands, at a multiple of 64 bytes, and how many bytes it takes.
void gemm_amx(const Product<float>& product, void* scratch);
std::int64_t amx_scratch(const Product<float>& product);

}  // namespace gradus::kernels
