#pragma once
// Every kernel, written once over Vec. A file that includes a vec_*.h and then this one compiles all of them
// for that Vec's instruction set and puts them into a table. Read the parts in this order:
//
//   body_loops.h        how a loop walks over n values; how sums are ordered
//   body_math.h         exp, log, tanh, erf, sin, cos
//   body_activations.h  sigmoid, silu, gelu
//   body_elementwise.h  functions applied to arrays
//   body_reduce.h       sum, dot, max
//   body_gemm.h         matrix products
//   body_gemv.h         matrix times a vector, or a few
//   body_rows.h         softmax and relations
//   body_attention.h    attention's weights
//   body_norm.h         layer norm, RMS norm
//   body_dropout.h      random numbers and dropout
//   body_adam.h         the optimizer's step
//
// clang-format off
#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/kernels/body_loops.h"
#include "gradus/ops/kernels/body_math.h"
#include "gradus/ops/kernels/body_activations.h"
#include "gradus/ops/kernels/body_elementwise.h"
#include "gradus/ops/kernels/body_reduce.h"
#include "gradus/ops/kernels/body_gemm.h"
#include "gradus/ops/kernels/body_gemv.h"
#include "gradus/ops/kernels/body_rows.h"
#include "gradus/ops/kernels/body_attention.h"
#include "gradus/ops/kernels/body_norm.h"
#include "gradus/ops/kernels/body_dropout.h"
#include "gradus/ops/kernels/body_adam.h"
// clang-format on

namespace gradus::kernels {
namespace {

template <class V>
consteval void fill_unary(Table<ScalarOf<V>>& table) {
  const auto set = [&](Unary op, auto f) { table.unary[static_cast<int>(op)] = f; };
  set(Unary::neg, unary<V, neg>);
  set(Unary::abs, unary<V, absolute>);
  set(Unary::square, unary<V, square>);
  set(Unary::sqrt, unary<V, square_root>);
  set(Unary::rsqrt, unary<V, rsqrt>);
  set(Unary::reciprocal, unary<V, reciprocal>);
  set(Unary::exp, unary<V, exp>);
  set(Unary::log, unary<V, log>);
  set(Unary::log1p, unary<V, log1p>);
  set(Unary::sin, unary<V, sin>);
  set(Unary::cos, unary<V, cos>);
  set(Unary::tanh, unary<V, tanh>);
  set(Unary::sigmoid, unary<V, sigmoid>);
  set(Unary::relu, unary<V, relu>);
  set(Unary::gelu, unary<V, gelu>);
  set(Unary::gelu_tanh, unary<V, gelu_tanh>);
  set(Unary::silu, unary<V, silu>);
  set(Unary::erf, unary<V, erf>);
  set(Unary::sign, unary<V, sign>);
}

template <class V>
consteval void fill_unary_grad(Table<ScalarOf<V>>& table) {
  const auto set = [&](UnaryGrad op, auto f) { table.unary_grad[static_cast<int>(op)] = f; };
  set(UnaryGrad::tanh, unary_grad<V, tanh_grad>);
  set(UnaryGrad::sigmoid, unary_grad<V, sigmoid_grad>);
  set(UnaryGrad::relu, unary_grad<V, relu_grad>);
  set(UnaryGrad::gelu, unary_grad<V, gelu_grad>);
  set(UnaryGrad::gelu_tanh, unary_grad<V, gelu_tanh_grad>);
  set(UnaryGrad::silu, unary_grad<V, silu_grad>);
  set(UnaryGrad::erf, unary_grad<V, erf_grad>);
  set(UnaryGrad::sin, unary_grad<V, sin_grad>);
  set(UnaryGrad::cos, unary_grad<V, cos_grad>);
}

template <class V>
consteval void fill_binary(Table<ScalarOf<V>>& table) {
  const auto set = [&](Binary op, auto f) { table.binary[static_cast<int>(op)] = f; };
  set(Binary::add, binary<V, add>);
  set(Binary::sub, binary<V, sub>);
  set(Binary::mul, binary<V, mul>);
  set(Binary::div, binary<V, div>);
  set(Binary::pow, binary<V, pow>);
  set(Binary::maximum, binary<V, maximum>);
  set(Binary::minimum, binary<V, minimum>);
  const auto set_compare = [&](Compare op, auto f) { table.compare[static_cast<int>(op)] = f; };
  set_compare(Compare::eq, compare<V, eq>);
  set_compare(Compare::ne, compare<V, ne>);
  set_compare(Compare::lt, compare<V, lt>);
  set_compare(Compare::le, compare<V, le>);
  set_compare(Compare::gt, compare<V, gt>);
  set_compare(Compare::ge, compare<V, ge>);
}

template <class V>
consteval Table<ScalarOf<V>> make_table() {
  Table<ScalarOf<V>> table{};
  fill_unary<V>(table);
  fill_unary_grad<V>(table);
  fill_binary<V>(table);
  table.where = where<V>;
  table.axpy = axpy<V>;
  table.scale = multiply_by<V>;
  table.mul_add = mul_add<V>;
  table.clamp = clamp<V>;
  table.sum = sum_run<V>;
  table.sum_square = sum_square<V>;
  table.mean_below = mean_below<V>;
  table.dot = dot<V>;
  table.max = max_run<V>;
  table.min = min_run<V>;
  table.softmax = softmax<V>;
  table.softmax_grad = softmax_grad<V>;
  table.log_softmax = log_softmax<V>;
  table.log_softmax_grad = log_softmax_grad<V>;
  table.logsumexp = logsumexp<V>;
  table.exp_shift_sum = exp_shift_sum<V>;
  table.attention_exp = attention_exp<V>;
  table.attention_output = attention_output<V>;
  table.attention_weights = attention_weights<V>;
  table.attention_delta = attention_delta<V>;
  table.attention_score_grad = attention_score_grad<V>;
  table.layer_norm = layer_norm<V>;
  table.layer_norm_grad = layer_norm_grad<V>;
  table.rms_norm = rms_norm<V>;
  table.rms_norm_grad = rms_norm_grad<V>;
  table.gemm = gemm<V>;
  table.gemv = gemv<V>;
  table.gemv_few = gemv_few<V>;
  table.gemv_t = gemv_t<V>;
  table.adam = adam<V>;
  table.dropout = dropout<V>;
  return table;
}

constexpr Table<float> table_f32 = make_table<Vec<float>>();
constexpr Table<double> table_f64 = make_table<Vec<double>>();

}  // namespace
}  // namespace gradus::kernels
