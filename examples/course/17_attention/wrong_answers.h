struct How {
  int axis = -1, first_hidden = 1;
  std::function<double(double D)> divisor = [](double D) { return std::sqrt(D); };
};
Tensor hidden_by(const Tensor& scores, const Tensor& mask, bool causal, int first = 1) {
  const Tensor hidden = !mask;
  return causal ? hidden | (triu(ones_like(scores), first) != 0) : hidden;
}
Tensor with(const How& how, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
            bool causal) {
  const double D = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / how.divisor(D);
  const Tensor hidden = hidden_by(scores, mask, causal, how.first_hidden);
  return matmul(masked_fill(softmax(masked_fill(scores, hidden, -1e30), how.axis), hidden, 0.0), v);
}
#define ATTENTION \
  Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal)

namespace softmax_over_the_queries {
ATTENTION { return with({.axis = -2}, q, k, v, mask, causal); }
}  // namespace softmax_over_the_queries
MUTANT(softmax_over_the_queries, "the weights of a query sum to 1", "the scores are divided by sqrt(D)",
       "query i is compared with key j", "a mask hides what is false", "mask and causal hide together",
       "a query that sees no key gives 0", "hidden is hidden, however low the other scores are")

namespace softmax_over_axis_1 {  // right only where there is no batch
ATTENTION { return with({.axis = 1}, q, k, v, mask, causal); }
}  // namespace softmax_over_axis_1
MUTANT(softmax_over_axis_1, "texts and heads are a batch")

namespace no_scale {
ATTENTION {
  return with({.divisor = [](double) { return 1; }}, q, k, v, mask, causal);
}
}  // namespace no_scale
MUTANT(no_scale, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace divided_by_d {
ATTENTION {
  return with({.divisor = [](double D) { return D; }}, q, k, v, mask, causal);
}
}  // namespace divided_by_d
MUTANT(divided_by_d, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace always_divided_by_2 {
ATTENTION {
  return with({.divisor = [](double) { return 2; }}, q, k, v, mask, causal);
}
}  // namespace always_divided_by_2
MUTANT(always_divided_by_2, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace mask_leaks_by_one {
ATTENTION { return with({.first_hidden = 2}, q, k, v, mask, causal); }
}  // namespace mask_leaks_by_one
MUTANT(mask_leaks_by_one, "a change in the future changes nothing", "mask and causal hide together",
       "hidden is hidden, however low the other scores are")

namespace mask_hides_itself {
ATTENTION { return with({.first_hidden = 0}, q, k, v, mask, causal); }
}  // namespace mask_hides_itself
MUTANT(mask_hides_itself, "a position sees itself", "the weights of a query sum to 1",
       "mask and causal hide together", "hidden is hidden, however low the other scores are")

namespace mask_after_softmax {
ATTENTION {
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(masked_fill(softmax(scores, -1), hidden_by(scores, mask, causal), 0.0), v);
}
}  // namespace mask_after_softmax
MUTANT(mask_after_softmax, "the weights of a query sum to 1", "a change in the future changes nothing",
       "a mask hides what is false", "mask and causal hide together",
       "hidden is hidden, however low the other scores are")

namespace always_causal {
ATTENTION { return solution::attention(q, k, v, mask, causal || !causal); }
}  // namespace always_causal
MUTANT(always_causal, "without a mask every position sees all", "the scores are divided by sqrt(D)",
       "query i is compared with key j", "hidden is hidden, however low the other scores are")

namespace keys_with_keys {
ATTENTION { return solution::attention(0 * q + k, k, v, mask, causal); }
}  // namespace keys_with_keys
MUTANT(keys_with_keys, "query i is compared with key j")

namespace queries_and_keys_exchanged {
ATTENTION { return solution::attention(k, q, v, mask, causal); }
}  // namespace queries_and_keys_exchanged
MUTANT(queries_and_keys_exchanged, "the scores are divided by sqrt(D)", "query i is compared with key j")

namespace mask_ignored {
ATTENTION { return solution::attention(q, k, v, mask | !mask, causal); }
}  // namespace mask_ignored
MUTANT(mask_ignored, "a mask hides what is false", "a query that sees no key gives 0",
       "mask and causal hide together", "hidden is hidden, however low the other scores are")

namespace true_is_hidden {
ATTENTION { return solution::attention(q, k, v, !mask, causal); }
}  // namespace true_is_hidden
MUTANT(true_is_hidden, "the weights of a query sum to 1", "the scores are divided by sqrt(D)",
       "query i is compared with key j", "a position sees itself", "without a mask every position sees all",
       "a mask hides what is false", "a query that sees no key gives 0", "mask and causal hide together",
       "hidden is hidden, however low the other scores are")

namespace mask_or_causal {
ATTENTION { return solution::attention(q, k, v, causal ? mask | !mask : mask, causal); }
}  // namespace mask_or_causal
MUTANT(mask_or_causal, "mask and causal hide together")

namespace nan_where_no_key_is_seen {
ATTENTION {
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(softmax(masked_fill(scores, hidden_by(scores, mask, causal), -INFINITY), -1), v);
}
}  // namespace nan_where_no_key_is_seen
MUTANT(nan_where_no_key_is_seen, "a query that sees no key gives 0",
       "a query that sees no key has the gradient 0")

namespace mean_where_no_key_is_seen {
ATTENTION {
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return matmul(softmax(masked_fill(scores, hidden_by(scores, mask, causal), -1e9), -1), v);
}
}  // namespace mean_where_no_key_is_seen
MUTANT(mean_where_no_key_is_seen, "a query that sees no key gives 0")

namespace hidden_scores_of_minus_100 {
ATTENTION {
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor hidden = hidden_by(scores, mask, causal);
  const Tensor none = hidden.all(-1, true);
  return masked_fill(matmul(softmax(masked_fill(scores, hidden, -100.0), -1), v), none, 0.0);
}
}  // namespace hidden_scores_of_minus_100
MUTANT(hidden_scores_of_minus_100, "hidden is hidden, however low the other scores are")

namespace mask_of_the_first_head {
ATTENTION {
  Tensor one = mask;
  while (one.dim() > 2) one = one[0];
  return solution::attention(q, k, v, one, causal);
}
}  // namespace mask_of_the_first_head
MUTANT(mask_of_the_first_head, "texts and heads are a batch")

namespace values_cleaned_afterwards {  // NaN becomes 0 in the result, but not in the gradient
ATTENTION {
  const Tensor y = nan_where_no_key_is_seen::attention(q, k, v, mask, causal);
  return masked_fill(y, y != y, 0.0);
}
}  // namespace values_cleaned_afterwards
MUTANT(values_cleaned_afterwards, "a query that sees no key has the gradient 0")

namespace weights_off_the_tape {
ATTENTION { return solution::attention(q.detach(), k.detach(), v, mask, causal); }
}  // namespace weights_off_the_tape
MUTANT(weights_off_the_tape, "the gradient reaches q, k and v", "a query that sees no key has the gradient 0")
#undef ATTENTION
