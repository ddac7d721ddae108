namespace right_gradient {
using solution::cosine;
Tensor norm_with_constant_sigma(const Tensor& x, double eps) { return layer_norm(x, {}, {}, eps); }
}  // namespace right_gradient
MUTANT(right_gradient, "the gradient does not pass sigma")

namespace mean_detached_too {
using solution::cosine;
Tensor norm_with_constant_sigma(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true).detach();
  return centred / (centred.square().mean(-1, true) + eps).sqrt().detach();
}
}  // namespace mean_detached_too
MUTANT(mean_detached_too, "the gradient passes the mean")

namespace eps_outside {
using solution::cosine;
Tensor norm_with_constant_sigma(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true).sqrt() + eps).detach();
}
}  // namespace eps_outside
MUTANT(eps_outside, "the forward is layer norm")

namespace product_only {
using solution::norm_with_constant_sigma;
double cosine(const Tensor& g, const Tensor& h) { return (g * h).sum().item(); }
}  // namespace product_only
MUTANT(product_only, "the cosine of a gradient with itself is 1", "the cosine is taken over all elements")

namespace mean_of_rows {
using solution::norm_with_constant_sigma;
double cosine(const Tensor& g, const Tensor& h) { return cosine_similarity(g, h, -1).mean().item(); }
}  // namespace mean_of_rows
MUTANT(mean_of_rows, "the cosine is taken over all elements")
