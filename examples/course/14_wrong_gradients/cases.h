struct Answer {
  Tensor (*norm)(const Tensor& x, double eps);
  double (*cosine)(const Tensor& g, const Tensor& h);
};
#define ANSWER(FROM) \
  { FROM::norm_with_constant_sigma, FROM::cosine }

namespace {
Tensor gradient(const Answer& answer, const Tensor& x, const Tensor& dy) {
  const Tensor leaf = x.clone().requires_grad_();
  answer.norm(leaf, 1e-5).backward(dy);
  return leaf.grad();
}
}  // namespace

CASE("the forward is layer norm", "The values are right; only the backward is wrong.") {
  const Tensor x = randn({3, 5});
  near("y", answer.norm(x, 1e-3), by_library([&] { return layer_norm(x, {}, {}, 1e-3); }));
}
CASE("the gradient passes the mean", "Detach only sigma: the mean of dy is still subtracted.") {
  const Tensor x = randn({2, 4}).requires_grad_();
  const Tensor y = answer.norm(x, 1e-5);
  expect(y.requires_grad(), "y is not on the tape");
  if (y.requires_grad())
    near("the mean of dx", gradient(answer, x.detach(), randn({2, 4})).mean(-1), zeros({2}));
}
CASE("the gradient does not pass sigma", "Divide by sigma.detach().") {
  const Tensor x = tensor({1.0, -1.0});  // sigma = 1, and the right gradient is 0
  near("dx for dy = [1, -1]", gradient(answer, x, tensor({1.0, -1.0})), tensor({1.0, -1.0}), 1e-4);
}
CASE("the cosine of a gradient with itself is 1", "Divide by both lengths.") {
  const Tensor g = randn({3, 2}) * 10;
  near("cosine(g, g)", answer.cosine(g, g), 1);
  near("cosine(g, -3 g)", answer.cosine(g, -3 * g), -1);
}
CASE("the cosine is taken over all elements", "Sum over everything before you divide: not row by row.") {
  near("the cosine", answer.cosine(tensor({{3.0, 0.0}, {0.0, 1.0}}), tensor({{3.0, 0.0}, {0.0, -1.0}})), 0.8);
}
