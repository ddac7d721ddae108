namespace missing_final_norm {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y + f(layer_norm(y));
  return y;
}
}  // namespace missing_final_norm
MUTANT(missing_final_norm, "Pre-LN: a final norm")

namespace doubled_final_norm {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  return layer_norm(solution::post_ln(x, sublayers));
}
}  // namespace doubled_final_norm
MUTANT(doubled_final_norm, "Post-LN: no second final norm")

namespace normalised_shortcut {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) {
    y = layer_norm(y);
    y = y + f(y);
  }
  return layer_norm(y);
}
}  // namespace normalised_shortcut
MUTANT(normalised_shortcut, "Pre-LN: the shortcut is not normalized",
       "each sublayer reads the output of the previous one")

namespace branch_not_normalised {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y + f(y);
  return layer_norm(y);
}
}  // namespace branch_not_normalised
MUTANT(branch_not_normalised, "Pre-LN: branches see a normalized token",
       "Pre-LN: the shortcut is not normalized", "each sublayer reads the output of the previous one")

namespace norm_on_the_branch {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y + layer_norm(f(y));
  return y;
}
}  // namespace norm_on_the_branch
MUTANT(norm_on_the_branch, "Post-LN: the sum is normalized",
       "each sublayer reads the output of the previous one")

namespace pre_ln_called_post_ln {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  return solution::pre_ln(x, sublayers);
}
}  // namespace pre_ln_called_post_ln
MUTANT(pre_ln_called_post_ln, "Post-LN: branches see the stream as it is", "Post-LN: no second final norm",
       "each sublayer reads the output of the previous one")

namespace post_without_shortcut {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = layer_norm(f(y));
  return y;
}
}  // namespace post_without_shortcut
MUTANT(post_without_shortcut, "Post-LN: the sum is normalized",
       "each sublayer reads the output of the previous one")

namespace every_post_branch_reads_x {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = layer_norm(y + f(x));
  return y;
}
}  // namespace every_post_branch_reads_x
MUTANT(every_post_branch_reads_x, "each sublayer reads the output of the previous one")

namespace every_pre_branch_reads_x {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y + f(layer_norm(x));
  return layer_norm(y);
}
}  // namespace every_pre_branch_reads_x
MUTANT(every_pre_branch_reads_x, "Pre-LN: the shortcut is not normalized",
       "each sublayer reads the output of the previous one")

namespace results_thrown_away {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  for (const Sublayer& f : sublayers) f(layer_norm(x));
  return layer_norm(x);
}
}  // namespace results_thrown_away
MUTANT(results_thrown_away, "Pre-LN: the shortcut is not normalized",
       "each sublayer reads the output of the previous one")

namespace stream_detached {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y = y.detach() + f(layer_norm(y));
  return layer_norm(y);
}
}  // namespace stream_detached
MUTANT(stream_detached, "the gradient reaches x")

namespace writes_into_x {
using solution::post_ln;
Tensor pre_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y += f(layer_norm(y));
  return layer_norm(y);
}
}  // namespace writes_into_x
MUTANT(writes_into_x, "the inputs are as before", "the gradient reaches x")

namespace post_ln_writes_into_x {
using solution::pre_ln;
Tensor post_ln(const Tensor& x, const std::vector<Sublayer>& sublayers) {
  Tensor y = x;
  for (const Sublayer& f : sublayers) y += f(y), y = layer_norm(y);
  return y;
}
}  // namespace post_ln_writes_into_x
MUTANT(post_ln_writes_into_x, "the inputs are as before", "Post-LN: no second final norm",
       "the gradient reaches x")
