namespace no_norm_before {
using solution::b2t, solution::mix_is_post;
Tensor sandwich(const Tensor& x, const Part& f) { return x + layer_norm(f(x)); }
}  // namespace no_norm_before
MUTANT(no_norm_before, "sandwich: the branch sees a normalized token")

namespace no_norm_behind {
using solution::b2t, solution::mix_is_post;
Tensor sandwich(const Tensor& x, const Part& f) { return x + f(layer_norm(x)); }
}  // namespace no_norm_behind
MUTANT(no_norm_behind, "sandwich: the branch's output is normalized")

namespace norm_on_the_stream {
using solution::b2t, solution::mix_is_post;
Tensor sandwich(const Tensor& x, const Part& f) { return layer_norm(solution::sandwich(x, f)); }
}  // namespace norm_on_the_stream
MUTANT(norm_on_the_stream, "sandwich: no norm on the stream", "sandwich: the branch's output is normalized")

namespace plain_post_ln {
using solution::sandwich, solution::mix_is_post;
Tensor b2t(const Tensor& x, const Part& attention, const Part& ffn) {
  const Tensor y = layer_norm(x + attention(x));
  return layer_norm(y + ffn(y));
}
}  // namespace plain_post_ln
MUTANT(plain_post_ln, "B2T: the bottom reaches the top")

namespace ffn_reads_x {
using solution::sandwich, solution::mix_is_post;
Tensor b2t(const Tensor& x, const Part& attention, const Part& ffn) {
  return layer_norm(x + layer_norm(x + attention(x)) + ffn(x));
}
}  // namespace ffn_reads_x
MUTANT(ffn_reads_x, "B2T: the second sublayer reads y")

namespace post_ln_last {
using solution::sandwich, solution::b2t;
bool mix_is_post(int l, int L) { return l >= L - L / 4; }
}  // namespace post_ln_last
MUTANT(post_ln_last, "Mix-LN: Post-LN comes first, a quarter of it")

namespace rounded_up {
using solution::sandwich, solution::b2t;
bool mix_is_post(int l, int L) { return 4 * l < L; }
}  // namespace rounded_up
MUTANT(rounded_up, "Mix-LN: Post-LN comes first, a quarter of it")

namespace branch_detached {
using solution::b2t, solution::mix_is_post;
Tensor sandwich(const Tensor& x, const Part& f) { return x + layer_norm(f(layer_norm(x))).detach(); }
}  // namespace branch_detached
MUTANT(branch_detached, "the gradient reaches x")

namespace bottom_detached {
using solution::sandwich, solution::mix_is_post;
Tensor b2t(const Tensor& x, const Part& attention, const Part& ffn) {
  const Tensor y = layer_norm(x + attention(x));
  return layer_norm(x.detach() + y + ffn(y));
}
}  // namespace bottom_detached
MUTANT(bottom_detached, "the gradient reaches x")

namespace a_fifth {
using solution::sandwich, solution::b2t;
bool mix_is_post(int l, int L) { return l < L / 5; }
}  // namespace a_fifth
MUTANT(a_fifth, "Mix-LN: Post-LN comes first, a quarter of it")

namespace ffn_behind_the_norm {
using solution::mix_is_post, solution::sandwich;
Tensor b2t(const Tensor& x, const Part& attention, const Part& ffn) {
  const Tensor y = layer_norm(x + attention(x));
  return layer_norm(x + y) + ffn(y);
}
}  // namespace ffn_behind_the_norm
MUTANT(ffn_behind_the_norm, "B2T: the bottom reaches the top")

namespace attention_reads_a_norm {
using solution::mix_is_post, solution::sandwich;
Tensor b2t(const Tensor& x, const Part& attention, const Part& ffn) {
  const Tensor y = layer_norm(x + attention(layer_norm(x)));
  return layer_norm(x + y + ffn(y));
}
}  // namespace attention_reads_a_norm
MUTANT(attention_reads_a_norm, "B2T: the second sublayer reads y")

namespace writes_into_x {
using solution::b2t, solution::mix_is_post;
Tensor sandwich(const Tensor& x, const Part& f) {
  Tensor y = x;
  y += layer_norm(f(layer_norm(x)));
  return y;
}
}  // namespace writes_into_x
MUTANT(writes_into_x, "the inputs are as before", "the gradient reaches x")
