namespace gelu_for_silu {
using solution::serve, solution::t5_scores;
Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return matmul(gelu(matmul(x, Wg)) * matmul(x, Wu), Wd);
}
}  // namespace gelu_for_silu
MUTANT(gelu_for_silu, "the gate has silu", "the other factor is linear")

namespace sigmoid_alone {
using solution::serve, solution::t5_scores;
Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return matmul(sigmoid(2 * matmul(x, Wg)) * matmul(x, Wu), Wd);
}
}  // namespace sigmoid_alone
MUTANT(sigmoid_alone, "the gate has silu", "the other factor is linear")

namespace silu_on_the_other {
using solution::serve, solution::t5_scores;
Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return solution::swiglu(x, Wu, Wg, Wd);
}
}  // namespace silu_on_the_other
MUTANT(silu_on_the_other, "the other factor is linear")

namespace heads_in_turn {
using solution::swiglu, solution::t5_scores;
Tensor serve(const Tensor& k, std::int64_t H) { return repeat(k, {1, H / k.size(1), 1, 1}); }
}  // namespace heads_in_turn
MUTANT(heads_in_turn, "neighbouring queries share a head", "as many heads as the queries")

namespace h_times {
using solution::swiglu, solution::t5_scores;
Tensor serve(const Tensor& k, std::int64_t H) { return repeat_interleave(k, H, 1); }
}  // namespace h_times
MUTANT(h_times, "as many heads as the queries", "neighbouring queries share a head")

namespace t5_scaled {
using solution::swiglu, solution::serve;
Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor& bias) {
  return matmul(q, k.t()) / std::sqrt(static_cast<double>(q.size(1))) + bias;
}
}  // namespace t5_scaled
MUTANT(t5_scaled, "T5 does not divide by sqrt(D)")

namespace bias_left_out {
using solution::swiglu, solution::serve;
Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor&) { return matmul(q, k.t()); }
}  // namespace bias_left_out
MUTANT(bias_left_out, "T5 adds its bias to the scores")

namespace without_wd {
using solution::serve, solution::t5_scores;
Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor&) {
  return silu(matmul(x, Wg)) * matmul(x, Wu);
}
}  // namespace without_wd
MUTANT(without_wd, "the other factor is linear")

namespace t_and_d_scrambled {
using solution::swiglu, solution::t5_scores;
Tensor serve(const Tensor& k, std::int64_t H) {
  const std::int64_t B = k.size(0), T = k.size(2), D = k.size(3);
  return solution::serve(k.transpose(2, 3).reshape({B, k.size(1), T, D}), H);
}
}  // namespace t_and_d_scrambled
MUTANT(t_and_d_scrambled, "as many heads as the queries")

namespace keys_by_queries {
using solution::swiglu, solution::serve;
Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor& bias) { return matmul(k, q.t()) + bias; }
}  // namespace keys_by_queries
MUTANT(keys_by_queries, "T5 does not divide by sqrt(D)")

namespace gate_off_the_tape {
using solution::serve, solution::t5_scores;
Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return matmul(silu(matmul(x, Wg)).detach() * matmul(x, Wu), Wd);
}
}  // namespace gate_off_the_tape
MUTANT(gate_off_the_tape, "the gradient reaches x")

namespace heads_copied_off_the_tape {
using solution::swiglu, solution::t5_scores;
Tensor serve(const Tensor& k, std::int64_t H) { return solution::serve(k.detach(), H); }
}  // namespace heads_copied_off_the_tape
MUTANT(heads_copied_off_the_tape, "the gradient reaches x")
