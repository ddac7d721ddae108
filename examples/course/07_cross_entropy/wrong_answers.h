namespace naive_exp {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor& target) {
  return -(gather(z.exp(), 1, target.unsqueeze(1)) / z.exp().sum(-1, true)).log().mean();
}
}  // namespace naive_exp
MUTANT(naive_exp, "large logits do not overflow")

namespace softmax_over_the_batch {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor& target) {
  return -gather(log_softmax(z, 0), 1, target.unsqueeze(1)).mean();
}
}  // namespace softmax_over_the_batch
MUTANT(softmax_over_the_batch, "each row is an example", "the target's probability counts",
       "large logits do not overflow", "the loss is a mean")

namespace in_bits {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor& target) { return solution::loss(z, target) / std::log(2.0); }
}  // namespace in_bits
MUTANT(in_bits, "equal logits cost ln V", "each row is an example", "the target's probability counts",
       "large logits do not overflow")

namespace summed {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor& target) { return solution::loss(z, target) * z.size(0); }
}  // namespace summed
MUTANT(summed, "equal logits cost ln V", "each row is an example", "large logits do not overflow",
       "the loss is a mean")

namespace backward_p_times_one_minus_p {
using solution::loss;
Tensor loss_backward(const Tensor& z, const Tensor&) {
  const Tensor p = softmax(z, -1);
  return p * (1 - p) / z.size(0);
}
}  // namespace backward_p_times_one_minus_p
MUTANT(backward_p_times_one_minus_p, "large logits do not overflow", "the backward is the gradient")

namespace backward_without_n {
using solution::loss;
Tensor loss_backward(const Tensor& z, const Tensor& target) {
  return solution::loss_backward(z, target) * z.size(0);
}
}  // namespace backward_without_n
MUTANT(backward_without_n, "large logits do not overflow", "the backward is the gradient")

namespace of_the_likeliest_class {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor&) { return -log_softmax(z, -1).max(-1).mean(); }
}  // namespace of_the_likeliest_class
MUTANT(of_the_likeliest_class, "the target's probability counts", "large logits do not overflow")

namespace largest_logit_of_all_rows {
Tensor log_p(const Tensor& logits) {
  const Tensor z = logits - logits.max();
  return z - z.exp().sum(-1, true).log();
}
Tensor loss(const Tensor& z, const Tensor& target) {
  return -gather(log_p(z), 1, target.unsqueeze(1)).mean();
}
Tensor loss_backward(const Tensor& z, const Tensor& target) {
  return (log_p(z).exp() - one_hot(target, z.size(1)).to(f64)) / z.size(0);
}
}  // namespace largest_logit_of_all_rows
MUTANT(largest_logit_of_all_rows, "large logits do not overflow")

namespace backward_with_naive_exp {
using solution::loss;
Tensor loss_backward(const Tensor& z, const Tensor& target) {
  const Tensor e = z.exp();
  return (e / e.sum(-1, true) - one_hot(target, z.size(1)).to(f64)) / z.size(0);
}
}  // namespace backward_with_naive_exp
MUTANT(backward_with_naive_exp, "large logits do not overflow")

namespace off_the_tape {
using solution::loss_backward;
Tensor loss(const Tensor& z, const Tensor& target) { return solution::loss(z.detach(), target); }
}  // namespace off_the_tape
MUTANT(off_the_tape, "the gradient reaches the logits")
