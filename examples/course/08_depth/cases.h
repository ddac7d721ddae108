struct Answer {
  std::vector<Tensor> (*forward)(const Tensor& x, const std::vector<Tensor>& W);
  std::vector<double> (*sizes)(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh);
};
#define ANSWER(FROM) \
  { FROM::forward, FROM::gradient_sizes }

CASE("every layer's output is there", "L layers have L + 1 outputs, the first is x.") {
  const Tensor x = randn({2, 3});
  const std::vector<Tensor> h = answer.forward(x, {randn({3, 3}), randn({3, 3})});
  expect(h.size() == 3, phrase("there are {0} outputs of two layers, not 3", h.size()));
  if (!h.empty()) near("h_0", h[0], x);
}
CASE("a layer reads the previous one",
     "tanh(h_l W_l), with the h of the previous layer. A product of matrices is matmul(h, W): h * W "
     "multiplies elements.") {
  const Tensor x = tensor({{0.5, 0.0}}), W = tensor({{0.0, 1.0}, {0.0, 0.0}});
  near("h_2", answer.forward(x, {W, W.t()}).back(), tensor({{std::tanh(std::tanh(0.5)), 0.0}}));
}
// At x = 0 every tanh has the derivative 1.
CASE("the gradient shrinks layer by layer", "Each layer multiplies: with W = I / 2 each halves it.") {
  const Tensor W = eye(2) * 0.5;
  near("the sizes", answer.sizes(zeros({1, 2}), {W, W, W}, tensor({{3.0, 4.0}})),
       std::vector<double>{0.625, 1.25, 2.5, 5});
}
CASE("backward multiplies by the transpose", "Multiply by W_l^T, with matmul.") {
  const Tensor W = tensor({{0.0, 1.0}, {0.0, 0.0}});
  near("|dh_0| for dh_1 = [1, 0]", answer.sizes(zeros({1, 2}), {W}, tensor({{1.0, 0.0}}))[0], 0);
}
CASE("tanh passes on the fraction 1 - h^2", "A saturated unit passes on next to nothing.") {
  const double h = std::tanh(2.0);
  near("|dh_0| for x = 2", answer.sizes(full({1, 1}, 2.0), {eye(1)}, ones({1, 1}))[0], 1 - h * h);
}
CASE("from the last layer to the first", "Begin with W_{L-1}, end with W_0.") {
  const Tensor A = tensor({{0.0, 0.0}, {1.0, 0.0}}), B = tensor({{1.0, 0.0}, {0.0, 0.0}});
  near("|dh_0|", answer.sizes(zeros({1, 2}), {A, B}, tensor({{1.0, 0.0}}))[0], 1);
}
CASE("the tape finds the same sizes",
     "First times 1 - h^2, then times W_l^T. A size is taken over all examples.") {
  const Tensor x = randn({3, 4}), dh_2 = randn({3, 4}), W = randn({4, 4}) / 2, V = randn({4, 4}) / 2;
  const Tensor h_0 = x.clone().requires_grad_(), h_1 = tanh(matmul(x, W)).requires_grad_();
  tanh(matmul(h_1, V)).backward(dh_2);
  tanh(matmul(h_0, W)).backward(h_1.grad());
  near("the sizes", answer.sizes(x, {W, V}, dh_2),
       std::vector<double>{h_0.grad().norm().item(), h_1.grad().norm().item(), dh_2.norm().item()});
}
