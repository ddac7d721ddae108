namespace not_scaled {
using solution::ffn, solution::block;
Tensor drop(const Tensor& x, const Tensor& keep, double, bool training) { return training ? x * keep : x; }
}  // namespace not_scaled
MUTANT(not_scaled, "dropout keeps the mean")

namespace scaled_in_inference {
using solution::ffn, solution::block;
Tensor drop(const Tensor& x, const Tensor& keep, double p, bool training) {
  return training ? x * keep / (1 - p) : x * (1 - p);
}
}  // namespace scaled_in_inference
MUTANT(scaled_in_inference, "inference drops nothing")

namespace always_dropping {
using solution::ffn, solution::block;
Tensor drop(const Tensor& x, const Tensor& keep, double p, bool) { return x * keep / (1 - p); }
}  // namespace always_dropping
MUTANT(always_dropping, "inference drops nothing")

namespace never_dropping {
using solution::ffn, solution::block;
Tensor drop(const Tensor& x, const Tensor&, double p, bool training) { return training ? x / (1 - p) : x; }
}  // namespace never_dropping
MUTANT(never_dropping, "training drops")

namespace gelu_at_the_end {
using solution::drop, solution::block;
Tensor ffn(const Tensor& x, const Tensor& W1, const Tensor& b1, const Tensor& W2, const Tensor& b2) {
  return gelu(matmul(gelu(matmul(x, W1) + b1), W2) + b2);
}
}  // namespace gelu_at_the_end
MUTANT(gelu_at_the_end, "the network has one gelu, between the products")

namespace sublayers_side_by_side {
using solution::drop, solution::ffn;
Tensor block(const Tensor& x, const Part& attention, const Part& feed_forward) {
  return x + attention(layer_norm(x)) + feed_forward(layer_norm(x));
}
}  // namespace sublayers_side_by_side
MUTANT(sublayers_side_by_side, "the second sublayer reads the output of the first")

namespace second_shortcut_from_x {
using solution::drop, solution::ffn;
Tensor block(const Tensor& x, const Part& attention, const Part& feed_forward) {
  const Tensor h = x + attention(layer_norm(x));
  return x + feed_forward(layer_norm(h));
}
}  // namespace second_shortcut_from_x
MUTANT(second_shortcut_from_x, "both sublayers have a residual connection")

namespace attention_reads_x {
using solution::drop, solution::ffn;
Tensor block(const Tensor& x, const Part& attention, const Part& feed_forward) {
  const Tensor h = x + attention(x);
  return h + feed_forward(layer_norm(h));
}
}  // namespace attention_reads_x
MUTANT(attention_reads_x, "the first sublayer reads LN(x)")

namespace block_detached {
using solution::drop, solution::ffn;
Tensor block(const Tensor& x, const Part& attention, const Part& feed_forward) {
  return solution::block(x.detach(), attention, feed_forward);
}
}  // namespace block_detached
MUTANT(block_detached, "the gradient reaches x")

namespace shortcut_detached {
using solution::drop, solution::ffn;
Tensor block(const Tensor& x, const Part& attention, const Part& feed_forward) {
  const Tensor h = x.detach() + attention(layer_norm(x));
  return h + feed_forward(layer_norm(h));
}
}  // namespace shortcut_detached
MUTANT(shortcut_detached, "the gradient reaches x")

namespace ffn_off_the_tape {
using solution::drop, solution::block;
Tensor ffn(const Tensor& x, const Tensor& W1, const Tensor& b1, const Tensor& W2, const Tensor& b2) {
  return matmul(gelu(matmul(x, W1) + b1).detach(), W2) + b2;
}
}  // namespace ffn_off_the_tape
MUTANT(ffn_off_the_tape, "the gradient reaches x")

namespace dropout_off_the_tape {
using solution::ffn, solution::block;
Tensor drop(const Tensor& x, const Tensor& keep, double p, bool training) {
  const NoGrad guard;
  return solution::drop(x, keep, p, training);
}
}  // namespace dropout_off_the_tape
MUTANT(dropout_off_the_tape, "the gradient reaches x")
