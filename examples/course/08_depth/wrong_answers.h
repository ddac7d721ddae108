namespace {
std::vector<double> with(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh, bool transpose,
                         bool derivative, bool backwards, double shortcut) {
  const std::vector<Tensor> h = solution::forward(x, W);
  std::vector<double> sizes(h.size());
  Tensor d = dh;
  sizes.back() = d.norm().item();
  for (std::size_t l = W.size(); l-- > 0;) {
    const Tensor& w = W[backwards ? l : W.size() - 1 - l];
    d = matmul(derivative ? d * (1 - h[l + 1].square()) : d, transpose ? w.t() : w) + shortcut * d;
    sizes[l] = d.norm().item();
  }
  return sizes;
}
}  // namespace

namespace not_transposed {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return with(x, W, dh, false, true, true, 0);
}
}  // namespace not_transposed
MUTANT(not_transposed, "backward multiplies by the transpose", "from the last layer to the first",
       "the tape finds the same sizes")

namespace tanh_forgotten {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return with(x, W, dh, true, false, true, 0);
}
}  // namespace tanh_forgotten
MUTANT(tanh_forgotten, "tanh passes on the fraction 1 - h^2", "the tape finds the same sizes")

namespace from_the_first_layer {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return with(x, W, dh, true, true, false, 0);
}
}  // namespace from_the_first_layer
MUTANT(from_the_first_layer, "from the last layer to the first", "the tape finds the same sizes")

namespace as_if_there_were_shortcuts {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return with(x, W, dh, true, true, true, 1);
}
}  // namespace as_if_there_were_shortcuts
MUTANT(as_if_there_were_shortcuts, "the gradient shrinks layer by layer",
       "backward multiplies by the transpose", "tanh passes on the fraction 1 - h^2",
       "from the last layer to the first", "the tape finds the same sizes")

namespace x_left_out {
using solution::gradient_sizes;
std::vector<Tensor> forward(const Tensor& x, const std::vector<Tensor>& W) {
  std::vector<Tensor> h = solution::forward(x, W);
  h.erase(h.begin());
  return h;
}
}  // namespace x_left_out
MUTANT(x_left_out, "every layer's output is there")

namespace layers_read_x {
using solution::gradient_sizes;
std::vector<Tensor> forward(const Tensor& x, const std::vector<Tensor>& W) {
  std::vector<Tensor> h = {x};
  for (const Tensor& w : W) h.push_back(tanh(matmul(x, w)));
  return h;
}
}  // namespace layers_read_x
MUTANT(layers_read_x, "a layer reads the previous one")

namespace derivative_after_the_matrix {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  const std::vector<Tensor> h = forward(x, W);
  std::vector<double> sizes(h.size());
  Tensor d = dh;
  sizes.back() = d.norm().item();
  for (std::size_t l = W.size(); l-- > 0;) {
    d = matmul(d, W[l].t()) * (1 - h[l + 1].square());
    sizes[l] = d.norm().item();
  }
  return sizes;
}
}  // namespace derivative_after_the_matrix
MUTANT(derivative_after_the_matrix, "the tape finds the same sizes")

namespace first_example_only {
using solution::forward;
std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  return solution::gradient_sizes(x.slice(0, 0, 1), W, dh.slice(0, 0, 1));
}
}  // namespace first_example_only
MUTANT(first_example_only, "the tape finds the same sizes")
