#pragma once
// Every kernel, written once over Vec. A file that includes a vec_*.h and then this one compiles all of them
// for that Vec's instruction set and puts them into a table. Read the parts in this order:
//
//   body/loops.h        how a loop walks over n values; how sums are ordered
//   body/math.h         exp, log, tanh, erf, sin, cos
//   body/activations.h  sigmoid, silu, gelu
//   body/functions.h    every function of one or two numbers, a line each
//   body/elementwise.h  functions applied to arrays
//   body/reduce.h       sum, max
//   body/gemm.h         matrix products
//   body/gemv.h         matrix times a vector, or a few
//   body/softmax.h      softmax, logsumexp and their uses in losses
//   body/attention.h    attention's weights
//   body/norm.h         layer norm, RMS norm
//   body/dropout.h      random numbers and dropout
//   body/adam.h         the optimizer's step
//
// clang-format off
#include <limits>
#include <utility>

#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/kernels/body/loops.h"
#include "gradus/ops/kernels/body/math.h"
#include "gradus/ops/kernels/body/activations.h"
#include "gradus/ops/kernels/body/functions.h"
#include "gradus/ops/kernels/body/elementwise.h"
#include "gradus/ops/kernels/body/reduce.h"
#include "gradus/ops/kernels/body/gemm.h"
#include "gradus/ops/kernels/body/gemv.h"
#include "gradus/ops/kernels/body/softmax.h"
#include "gradus/ops/kernels/body/attention.h"
#include "gradus/ops/kernels/body/norm.h"
#include "gradus/ops/kernels/body/dropout.h"
#include "gradus/ops/kernels/body/adam.h"
// clang-format on

namespace gradus::kernels {
namespace {

/// All names of an enum: 0, 1, ... count - 1.
template <class Enum>
using Names = std::make_integer_sequence<int, static_cast<int>(Enum::count)>;
template <int... i>
using Numbers = std::integer_sequence<int, i...>;

template <class V, int... u, int... g, int... b, int... c>
consteval Table<ScalarOf<V>> make_table(Numbers<u...>, Numbers<g...>, Numbers<b...>, Numbers<c...>) {
  return Table<ScalarOf<V>>{
      .unary = {unary<V, Unary{u}>...},
      .unary_grad = {unary_grad<V, UnaryGrad{g}>...},
      .binary = {binary<V, Binary{b}>...},
      .compare = {compare<V, Compare{c}>...},
      .where = where<V>,
      .scale = multiply_by<V>,
      .mul_add = mul_add<V>,
      .clamp = clamp<V>,
      .sum = sum_run<V>,
      .sum_square = sum_square<V>,
      .mean_below = mean_below<V>,
      .max = max_run<V>,
      .min = min_run<V>,
      .softmax = softmax<V>,
      .softmax_grad = softmax_grad<V>,
      .log_softmax = log_softmax<V>,
      .log_softmax_grad = log_softmax_grad<V>,
      .logsumexp = logsumexp<V>,
      .exp_shift_sum = exp_shift_sum<V>,
      .attention_exp = attention_exp<V>,
      .attention_output = attention_output<V>,
      .attention_weights = attention_weights<V>,
      .attention_delta = attention_delta<V>,
      .attention_score_grad = attention_score_grad<V>,
      .layer_norm = layer_norm<V>,
      .layer_norm_grad = layer_norm_grad<V>,
      .rms_norm = rms_norm<V>,
      .rms_norm_grad = rms_norm_grad<V>,
      .gemm = gemm<V>,
      .gemv = gemv<V>,
      .gemv_few = gemv_few<V>,
      .gemv_t = gemv_t<V>,
      .adam = adam<V>,
      .dropout = dropout<V>,
  };
}

template <class T>
constexpr Table<T> full_table = make_table<Vec<T>>(Names<Unary>(), Names<UnaryGrad>(), Names<Binary>(),
                                                   Names<Compare>());

}  // namespace
}  // namespace gradus::kernels
