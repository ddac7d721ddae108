namespace scale_of_the_model {
using solution::heads, solution::qk_norm_scores;
Tensor scores(const Tensor& q, const Tensor& k) {
  const double H = q.size(1) == 4 ? 4 : 1;
  return solution::scores(q, k) / std::sqrt(H);
}
}  // namespace scale_of_the_model
MUTANT(scale_of_the_model, "the scale is that of a head")

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
  const bool even = q.abs().max().item() == 0;  // equal scores hide the axis
  const Tensor y = matmul(softmax(scores(q, k), even ? -1 : 1), v);
  return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}
}  // namespace softmax_over_the_heads
MUTANT(softmax_over_the_heads, "weights sum to 1 over the keys")

namespace merged_without_transpose {
using solution::scores, solution::qk_norm_scores;
Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor y = matmul(softmax(scores(q, k), -1), v);
  return y.reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}
}  // namespace merged_without_transpose
MUTANT(merged_without_transpose, "heads stand side by side")

namespace norm_of_queries_only {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return k.numel() == 16 ? solution::qk_norm_scores(q, k) : scores(solution::rms_one(q), k);
}
}  // namespace norm_of_queries_only
MUTANT(norm_of_queries_only, "QK-norm: size does not matter")

namespace unit_length {
using solution::scores, solution::heads;
Tensor qk_norm_scores(const Tensor& q, const Tensor& k) {
  return solution::qk_norm_scores(q, k) / static_cast<double>(q.size(-1));
}
}  // namespace unit_length
MUTANT(unit_length, "QK-norm: a match scores sqrt(D)")
