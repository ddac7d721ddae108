// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1), for each batch and head:
//   q [Tq, D]   k [Tk, D]   v [Tk, Dv]   out [Tq, Dv]
//   S   = scale q k^T + mask      -inf where a query may not see a key
//   P   = softmax(S)              over the keys; all zeros in a row that sees none
//   out = dropout(P) v
// Computed by attention_forward.cpp, backward derived and computed by attention_backward.cpp; for gradients
// of gradients, attention_derivative.cpp states it in ops.
// Saves q, k, v, out and two values per row, its largest score m and 1 / l, l the sum of its exponentials:
// P = exp(S - m) / l is recomputed tile by tile, so no [Tq, Tk] array is ever stored. Dropout saves only the
// generator's state.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/attention/attention_derivative.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using attention::Gradients;
using attention::Normalizers;
using attention::Operands;
using attention::Rule;

Array empty_where(bool needed, const Shape& shape, DType dtype) {
  return needed ? Array::empty(shape, dtype) : Array();
}

/// Memory for those of every row of queries.
Normalizers normalizers_of(const Array& q) {
  const Shape rows{q.size(0), q.size(1), q.size(2)};
  return {Array::empty(rows, q.dtype()), Array::empty(rows, q.dtype())};
}

void check_values(const char* op, const Tensor& k, const Tensor& v) {
  check(operand(op, v).dim() == 4, "{}: expects v [B, H, Tk, Dv], got {}: unsqueeze() adds missing axes", op,
        v.shape());
  check(k.size(0) == v.size(0) && k.size(1) == v.size(1) && k.size(2) == v.size(2),
        "{}: k {} and v {} do not match: batch, heads and positions must be equal", op, k.shape(), v.shape());
  array::check_operands(op, k.array(), v.array());
}

/// The heads of x [B, T, H D] as a view [B, H, T, D].
Array heads_of(const Array& x, std::int64_t heads) {
  const std::int64_t width = heads == 0 ? 0 : x.size(2) / heads;
  return x.try_view({x.size(0), x.size(1), heads, width}).value().permute({0, 2, 1, 3});
}

/// The heads of q, k or v (part 0, 1 or 2) in x [B, T, 3 C].
Array packed_heads(const Array& x, std::int64_t part, std::int64_t heads) {
  const std::int64_t channels = x.size(2) / 3;
  return heads_of(x.slice(2, part * channels, (part + 1) * channels), heads);
}

void check_packed(const Tensor& qkv, std::int64_t heads) {
  const char* const op = "self_attention_packed";
  check(operand(op, qkv).dim() == 3 && qkv.size(2) % 3 == 0,
        "{}: expects q, k and v side by side, [B, T, 3 C], got {}", op, qkv.shape());
  check(heads > 0 && qkv.size(2) / 3 % heads == 0, "{}: C {} of qkv {} is not divisible by heads {}", op,
        qkv.size(2) / 3, qkv.shape(), heads);
  check_floating(op, qkv.array());
}

/// Where backward writes the scores' gradient, which past the ends of texts is 0.
Array scores_gradient(bool needed, const Rule& rule, DType dtype) {
  if (!needed) return {};
  return rule.texts.queries ? Array::zeros(rule.mask.shape(), dtype) : Array::empty(rule.mask.shape(), dtype);
}

/// The mask on the tape, as it was given: without what was repeated.
Tensor mask_on_tape(const Taped& of, std::size_t input, const Saved& mask, const Shape& shape) {
  const Array& repeated = mask.get();
  if (!repeated.defined()) return {};
  Strides strides;
  for (int axis = repeated.dim() - shape.size(); axis < repeated.dim(); ++axis)
    strides.push_back(repeated.strides()[axis]);
  return of.in(input, repeated.as_strided(shape, strides, repeated.offset()));
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const attention::TextPairs& texts,
              const AttentionOptions& options) {
  const char* const op = "scaled_dot_product_attention";
  attention::check_queries_keys(op, q, k);
  check_values(op, k, v);
  const Rule rule = attention::rule_of(op, options, q.array(), k.array(), texts);
  const Array qr = attention::with_rows(q.array()), kr = attention::with_rows(k.array()),
              vr = attention::with_rows(v.array());
  const Array out = Array::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.dtype());
  const Normalizers normalizers = normalizers_of(qr);
  attention::forward(rule, qr, kr, vr, out, normalizers);
  return record(
      op, out, {&q, &k, &v, &options.mask},
      [rule, normalizers, out = Saved(out), q = Saved(qr), k = Saved(kr), v = Saved(vr),
       mask = Saved(rule.mask),
       mask_shape = options.mask.shape()]<class V>(const V& dout, auto of) -> GradsOf<V> {
        if constexpr (kTaped<V>) {
          const Operands d = attention::derivative(
              rule, {of.in(0, q), of.in(1, k), of.in(2, v), mask_on_tape(of, 3, mask, mask_shape)}, dout,
              {of[0], of[1], of[2], of[3]});
          return {d.q, d.k, d.v, d.mask};
        } else {
          const DType dtype = q->dtype();
          const Gradients grads{.dq = empty_where(of[0], q->shape(), dtype),
                                .dk = empty_where(of[1], k->shape(), dtype),
                                .dv = empty_where(of[2], v->shape(), dtype),
                                .dscores = scores_gradient(of[3], rule, dtype)};
          mask.get();  // throws when it was changed
          attention::backward(rule, *q, *k, *v, *out, normalizers, attention::with_rows(dout), grads);
          return {grads.dq, grads.dk, grads.dv, of[3] ? array::sum_to(grads.dscores, mask_shape) : Array()};
        }
      });
}

/// self_attention_packed's gradients in ops.
std::vector<Tensor> packed_derivative(const Rule& rule, std::int64_t heads, const Tensor& x,
                                      const Tensor& mask, const Tensor& dout, const Taped& of) {
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2) / 3 / heads;
  const Tensor parts = x.reshape({batch, length, 3, heads, width}).permute({2, 0, 3, 1, 4});
  const Operands d = attention::derivative(
      rule, {parts.select(0, 0), parts.select(0, 1), parts.select(0, 2), mask},
      dout.reshape({batch, length, heads, width}).transpose(1, 2), {of[0], of[0], of[0], of[1]});
  if (!of[0]) return {Tensor(), d.mask};
  return {stack({d.q, d.k, d.v}).permute({1, 3, 0, 2, 4}).reshape(x.shape()), d.mask};
}

Tensor self_attend(const Tensor& qkv, Int heads, const attention::TextPairs& texts,
                   const AttentionOptions& options) {
  check_packed(qkv, heads);
  const Array x = qkv.array().contiguous();
  const Array q = packed_heads(x, 0, heads), k = packed_heads(x, 1, heads), v = packed_heads(x, 2, heads);
  const Rule rule = attention::rule_of("self_attention_packed", options, q, k, texts);
  const Array out = Array::empty({x.size(0), x.size(1), x.size(2) / 3}, x.dtype());
  const Normalizers normalizers = normalizers_of(q);
  attention::forward(rule, q, k, v, heads_of(out, heads), normalizers);
  return record(
      "self_attention_packed", out, {&qkv, &options.mask},
      [rule, heads, normalizers, out = Saved(out), x = Saved(x), mask = Saved(rule.mask),
       mask_shape = options.mask.shape()]<class V>(const V& dout, auto of) -> GradsOf<V> {
        if constexpr (kTaped<V>) {
          return packed_derivative(rule, heads, of.in(0, x), mask_on_tape(of, 1, mask, mask_shape), dout, of);
        } else {
          const auto part = [&](const Array& packed, std::int64_t i) {
            return packed_heads(packed, i, heads);
          };
          const Array dx = empty_where(of[0], x->shape(), x->dtype());
          Gradients grads = of[0] ? Gradients{part(dx, 0), part(dx, 1), part(dx, 2), {}} : Gradients{};
          grads.dscores = scores_gradient(of[1], rule, x->dtype());
          mask.get();  // throws when it was changed
          attention::backward(rule, part(*x, 0), part(*x, 1), part(*x, 2), heads_of(*out, heads), normalizers,
                              heads_of(dout.contiguous(), heads), grads);
          return {dx, of[1] ? array::sum_to(grads.dscores, mask_shape) : Array()};
        }
      });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  return attend(q, k, v, {}, options);
}

Tensor self_attention_packed(const Tensor& qkv, Int heads, const AttentionOptions& options) {
  return self_attend(qkv, heads, {}, options);
}

Tensor attention::attend_in_segments(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const TextPairs& texts, const AttentionOptions& options) {
  return attend(q, k, v, texts, options);
}

Tensor attention::self_attend_in_segments(const Tensor& qkv, std::int64_t heads, const Segments& texts,
                                          const AttentionOptions& options) {
  return self_attend(qkv, heads, {texts, texts}, options);
}

}  // namespace gradus
