Tensor with(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, double scale, int axis,
            int first_hidden) {
  Tensor scores = matmul(q, k.t()) * scale;
  if (causal) scores = masked_fill(scores, triu(ones_like(scores), first_hidden) != 0, -1e30);
  return matmul(softmax(scores, axis), v);
}

namespace softmax_over_axis_0 {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 1 / std::sqrt(static_cast<double>(q.size(-1))), 0, 1);
}
}  // namespace softmax_over_axis_0
MUTANT(softmax_over_axis_0, "the weights of a query sum to 1", "the scores are divided by sqrt(D)",
       "query i is compared with key j")

namespace no_scale {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 1, -1, 1);
}
}  // namespace no_scale
MUTANT(no_scale, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace divided_by_d {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 1.0 / static_cast<double>(q.size(-1)), -1, 1);
}
}  // namespace divided_by_d
MUTANT(divided_by_d, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace mask_leaks_by_one {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 1 / std::sqrt(static_cast<double>(q.size(-1))), -1, 2);
}
}  // namespace mask_leaks_by_one
MUTANT(mask_leaks_by_one, "a change in the future changes nothing")

namespace mask_hides_itself {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 1 / std::sqrt(static_cast<double>(q.size(-1))), -1, 0);
}
}  // namespace mask_hides_itself
MUTANT(mask_hides_itself, "a position sees itself", "a change in the future changes nothing")

namespace mask_after_softmax {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  const Tensor weights = softmax(matmul(q, k.t()) / std::sqrt(static_cast<double>(q.size(-1))), -1);
  return matmul(causal ? tril(weights) : weights, v);
}
}  // namespace mask_after_softmax
MUTANT(mask_after_softmax, "the weights of a query sum to 1", "a change in the future changes nothing")

namespace always_causal {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool) {
  return solution::attention(q, k, v, true);
}
}  // namespace always_causal
MUTANT(always_causal, "without a mask every position sees all", "the scores are divided by sqrt(D)",
       "query i is compared with key j")

namespace always_divided_by_2 {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return with(q, k, v, causal, 0.5, -1, 1);
}
}  // namespace always_divided_by_2
MUTANT(always_divided_by_2, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace keys_with_keys {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return solution::attention(0 * q + k, k, v, causal);
}
}  // namespace keys_with_keys
MUTANT(keys_with_keys, "query i is compared with key j")

namespace queries_and_keys_exchanged {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  return solution::attention(k, q, v, causal);
}
}  // namespace queries_and_keys_exchanged
MUTANT(queries_and_keys_exchanged, "the scores are divided by sqrt(D)", "query i is compared with key j")
