namespace scale_of_the_model {
using solution::heads, solution::qk_norm_scores;
Tensor scores(const Tensor& q, const Tensor& k) {
  return matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(1) * q.size(-1)));
}
}  // namespace scale_of_the_model
MUTANT(scale_of_the_model, "the scale is that of one head", "each head has its own scores")

namespace heads_mixed {
using solution::heads, solution::qk_norm_scores;
Tensor scores(const Tensor& q, const Tensor& k) {
  return solution::scores(q, k.mean(1, true).expand(k.shape()));
}
}  // namespace heads_mixed
MUTANT(heads_mixed, "each head has its own scores")

namespace softmax_over_the_heads {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor y = matmul(softmax(scores(q, k), 1), v);
  return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}
}  // namespace softmax_over_the_heads
MUTANT(softmax_over_the_heads, "weights sum to 1 over the keys", "each head attends by its own scores",
       "heads are concatenated")

namespace merged_without_transpose {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor y = matmul(softmax(scores(q, k), -1), v);
  return y.reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}
}  // namespace merged_without_transpose
MUTANT(merged_without_transpose, "heads are concatenated", "each head attends by its own scores")

namespace norm_of_queries_only {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) { return scores(solution::rms_one(q), k); }
}  // namespace norm_of_queries_only
MUTANT(norm_of_queries_only, "QK-norm: size does not matter", "QK-norm: a match scores sqrt(D)")

namespace unit_length {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return solution::qk_norm_scores(q, k) / static_cast<double>(q.size(-1));
}
}  // namespace unit_length
MUTANT(unit_length, "QK-norm: a match scores sqrt(D)")

namespace no_attention_at_all {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor&, const Tensor&, const Tensor& v) {
  return v.transpose(1, 2).reshape({v.size(0), v.size(2), v.size(1) * v.size(3)});
}
}  // namespace no_attention_at_all
MUTANT(no_attention_at_all, "each head attends by its own scores")

namespace queries_with_queries {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor&, const Tensor& v) { return solution::heads(q, q, v); }
}  // namespace queries_with_queries
MUTANT(queries_with_queries, "each head attends by its own scores")

namespace heads_not_scaled {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) { return solution::heads(2 * q, k, v); }
}  // namespace heads_not_scaled
MUTANT(heads_not_scaled, "each head attends by its own scores")

namespace one_rms_for_all {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return scores(q / q.square().mean().sqrt(), k / k.square().mean().sqrt());
}
}  // namespace one_rms_for_all
MUTANT(one_rms_for_all, "QK-norm: size does not matter")

namespace qk_norm_without_keys {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor&) { return solution::qk_norm_scores(q, q); }
}  // namespace qk_norm_without_keys
MUTANT(qk_norm_without_keys, "QK-norm: a match scores sqrt(D)")

namespace values_only_on_the_tape {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  return solution::heads(q.detach(), k.detach(), v);
}
}  // namespace values_only_on_the_tape
MUTANT(values_only_on_the_tape, "the gradient reaches q, k and v")

namespace rms_off_the_tape {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return scores(q / q.square().mean(-1, true).sqrt().detach(), k / k.square().mean(-1, true).sqrt().detach());
}
}  // namespace rms_off_the_tape
MUTANT(rms_off_the_tape, "the gradient reaches q, k and v")
