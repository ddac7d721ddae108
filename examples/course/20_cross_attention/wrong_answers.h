struct Choice {
  int axis = -1;          // of the softmax
  double factor = 1;      // of the scores
  double hidden = -1e30;  // the score of padding
};

Tensor with(const Tensor& x, const Tensor& keys, const Tensor& values, const Tensor& hidden, const Tensor& wq,
            const Tensor& wk, const Tensor& wv, std::int64_t H, const Choice& choice = {}) {
  const Tensor q = solution::split_heads(matmul(x, wq), H), k = solution::split_heads(matmul(keys, wk), H);
  const Tensor scores =
      matmul(q, k.transpose(-2, -1)) * (choice.factor / std::sqrt(static_cast<double>(q.size(-1))));
  const Tensor weights = softmax(masked_fill(scores, hidden, choice.hidden), choice.axis);
  return matmul(weights, solution::split_heads(matmul(values, wv), H)).transpose(1, 2).reshape(x.shape());
}

/// [B, S] -> [B, 1, 1, S]
Tensor over_keys(const Tensor& padding) { return padding.unsqueeze(1).unsqueeze(1); }

namespace softmax_over_the_queries {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H, {.axis = -2});
}
}  // namespace softmax_over_the_queries
MUTANT(softmax_over_the_queries, "the values come from memory", "the keys come from memory",
       "the queries come from x", "the scores are divided by sqrt(D)", "each head has its own weights",
       "heads are side by side", "padding is not seen", "the weights of the tokens sum to 1",
       "padding is hidden, however low the other scores are")

namespace softmax_over_the_heads {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H, {.axis = 1});
}
}  // namespace softmax_over_the_heads
MUTANT(softmax_over_the_heads, "the values come from memory", "the scores are divided by sqrt(D)",
       "heads are side by side", "padding is not seen", "the weights of the tokens sum to 1",
       "padding is hidden, however low the other scores are")

namespace causal_mask_on_the_memory {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const Tensor future = triu(ones({x.size(1), memory.size(1)}), 1) == 1.0;
  return with(x, memory, memory, over_keys(padding) | future, wq, wk, wv, H);
}
}  // namespace causal_mask_on_the_memory
MUTANT(causal_mask_on_the_memory, "the scores are divided by sqrt(D)", "every position sees the whole source",
       "padding is hidden, however low the other scores are")

namespace values_from_the_decoder {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, x, over_keys(padding), wq, wk, wv, H);
}
}  // namespace values_from_the_decoder
MUTANT(values_from_the_decoder, "a row for each query, however long memory is", "the values come from memory",
       "the keys come from memory", "the queries come from x", "the scores are divided by sqrt(D)",
       "each head has its own weights", "heads are side by side", "the weights of the tokens sum to 1",
       "the gradient reaches x, memory and the matrices",
       "padding is hidden, however low the other scores are")

namespace keys_from_the_decoder {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, x, memory, over_keys(padding), wq, wk, wv, H);
}
}  // namespace keys_from_the_decoder
MUTANT(keys_from_the_decoder, "a row for each query, however long memory is", "the keys come from memory",
       "the queries come from x", "the scores are divided by sqrt(D)", "each head has its own weights",
       "heads are side by side", "the gradient reaches x, memory and the matrices",
       "padding is hidden, however low the other scores are")

namespace queries_from_the_encoder {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(memory, x, x, over_keys(padding), wq, wk, wv, H);
}
}  // namespace queries_from_the_encoder
MUTANT(queries_from_the_encoder, "a row for each query, however long memory is",
       "the values come from memory", "the keys come from memory", "the queries come from x",
       "the scores are divided by sqrt(D)", "each head has its own weights", "heads are side by side",
       "every position sees the whole source", "padding is not seen", "the weights of the tokens sum to 1",
       "the gradient reaches x, memory and the matrices",
       "padding is hidden, however low the other scores are")

namespace no_mask {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(zeros_like(padding)), wq, wk, wv, H);
}
}  // namespace no_mask
MUTANT(no_mask, "padding is not seen", "padding is hidden, however low the other scores are")

namespace mask_inverted {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(!padding), wq, wk, wv, H);
}
}  // namespace mask_inverted
MUTANT(mask_inverted, "the keys come from memory", "the queries come from x",
       "the scores are divided by sqrt(D)", "each head has its own weights", "padding is not seen",
       "padding is hidden, however low the other scores are")

namespace score_of_minus_10 {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H, {.hidden = -10});
}
}  // namespace score_of_minus_10
MUTANT(score_of_minus_10, "padding is not seen", "padding is hidden, however low the other scores are")

namespace mask_after_the_softmax {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const Tensor q = solution::split_heads(matmul(x, wq), H), k = solution::split_heads(matmul(memory, wk), H);
  const Tensor weights =
      softmax(matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1))), -1);
  const Tensor y =
      matmul(masked_fill(weights, over_keys(padding), 0), solution::split_heads(matmul(memory, wv), H));
  return y.transpose(1, 2).reshape(x.shape());
}
}  // namespace mask_after_the_softmax
MUTANT(mask_after_the_softmax, "padding is not seen", "the weights of the tokens sum to 1",
       "padding is hidden, however low the other scores are")

namespace padded_values_are_zero {  // without a mask of the scores
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const Tensor real = masked_fill(memory, padding.unsqueeze(2), 0);
  return with(x, real, real, over_keys(zeros_like(padding)), wq, wk, wv, H);
}
}  // namespace padded_values_are_zero
MUTANT(padded_values_are_zero, "the weights of the tokens sum to 1",
       "padding is hidden, however low the other scores are")

namespace padding_has_the_score_minus_100 {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H, {.hidden = -100});
}
}  // namespace padding_has_the_score_minus_100
MUTANT(padding_has_the_score_minus_100, "padding is hidden, however low the other scores are")

namespace one_mask_for_all {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding.slice(0, 0, 1)), wq, wk, wv, H);
}
}  // namespace one_mask_for_all
MUTANT(one_mask_for_all, "each sentence has its own padding")

namespace no_scale {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H,
              {.factor = std::sqrt(static_cast<double>(x.size(2) / H))});
}
}  // namespace no_scale
MUTANT(no_scale, "the scores are divided by sqrt(D)")

namespace scale_of_the_model {  // sqrt(C)
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H,
              {.factor = 1 / std::sqrt(static_cast<double>(H))});
}
}  // namespace scale_of_the_model
MUTANT(scale_of_the_model, "the scores are divided by sqrt(D)")

namespace scale_of_the_source {  // sqrt(S)
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const double D = static_cast<double>(x.size(2) / H), S = static_cast<double>(memory.size(1));
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, H, {.factor = std::sqrt(D / S)});
}
}  // namespace scale_of_the_source
MUTANT(scale_of_the_source, "the scores are divided by sqrt(D)")

namespace one_head_of_all_channels {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const double factor = std::sqrt(static_cast<double>(H));
  return with(x, memory, memory, over_keys(padding), wq, wk, wv, 1, {.factor = factor});
}
}  // namespace one_head_of_all_channels
MUTANT(one_head_of_all_channels, "the scores are divided by sqrt(D)", "each head has its own weights")

namespace merged_without_transpose {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  const Tensor y = solution::cross_attention(x, memory, padding, wq, wk, wv, H);
  return solution::split_heads(y, H).contiguous().reshape(x.shape());
}
}  // namespace merged_without_transpose
MUTANT(merged_without_transpose, "the queries come from x", "heads are side by side",
       "the weights of the tokens sum to 1")

namespace memory_detached {
using solution::decoder_input;
Tensor cross_attention(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                       const Tensor& wk, const Tensor& wv, std::int64_t H) {
  return solution::cross_attention(x, memory.detach(), padding, wq, wk, wv, H);
}
}  // namespace memory_detached
MUTANT(memory_detached, "the gradient reaches x, memory and the matrices")

namespace not_shifted {
using solution::cross_attention;
Tensor decoder_input(const Tensor& target, std::int64_t) { return target; }
}  // namespace not_shifted
MUTANT(not_shifted, "the decoder reads what comes before its target")

namespace shifted_the_other_way {
using solution::cross_attention;
Tensor decoder_input(const Tensor& target, std::int64_t) {
  return cat({target.slice(1, 1), zeros({target.size(0), 1}, i64)}, 1);
}
}  // namespace shifted_the_other_way
MUTANT(shifted_the_other_way, "the decoder reads what comes before its target")

namespace one_position_more {
using solution::cross_attention;
Tensor decoder_input(const Tensor& target, std::int64_t start) {
  return cat({full({target.size(0), 1}, start, i64), target}, 1);
}
}  // namespace one_position_more
MUTANT(one_position_more, "the decoder reads what comes before its target")

namespace always_the_same_start {
using solution::cross_attention;
Tensor decoder_input(const Tensor& target, std::int64_t) { return solution::decoder_input(target, 1); }
}  // namespace always_the_same_start
MUTANT(always_the_same_start, "the decoder reads what comes before its target")

namespace rotated {  // the last token comes before the first
using solution::cross_attention;
Tensor decoder_input(const Tensor& target, std::int64_t) { return roll(target, 1, 1); }
}  // namespace rotated
MUTANT(rotated, "the decoder reads what comes before its target")
