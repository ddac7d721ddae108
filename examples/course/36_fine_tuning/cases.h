struct Answer {
  Tensor (*lora)(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha);
  Tensor (*merge)(const Tensor& W, const Tensor& A, const Tensor& B, double alpha);
  double (*forgotten)(const std::vector<double>& before, const std::vector<double>& after);
};
#define ANSWER(FROM) \
  { FROM::lora, FROM::merge, FROM::forgotten }

CASE("with B = 0 it is the old layer", "x W^T, with W [out, in] as in PyTorch.") {
  const Tensor x = randn({2, 3}), W = randn({4, 3});
  near("y", answer.lora(x, W, randn({2, 3}), zeros({4, 2}), 8), matmul(x, W.t()));
}
CASE("alpha is divided by the rank", "The factor is alpha / r, r = A.size(0).") {
  const Tensor x = randn({2, 3}), A = randn({2, 3}), B = randn({4, 2});
  const Tensor y = 3 * matmul(matmul(x, A.t()), B.t());
  near("with W = 0, r = 2 and alpha = 6, y", answer.lora(x, zeros({4, 3}), A, B, 6), y);
}
CASE("W is frozen", "W.detach(): only A and B get a gradient.") {
  const Tensor x = randn({2, 3}), W = randn({4, 3}).requires_grad_(), A = randn({2, 3}).requires_grad_(),
               B = randn({4, 2}).requires_grad_();
  const Tensor y = answer.lora(x, W, A, B, 8);
  expect(y.requires_grad(), "nothing is trained");
  if (y.requires_grad()) y.sum().backward();
  expect(!W.grad().defined(), "W gets a gradient");
  expect(A.grad().defined() && B.grad().defined(), "A and B get no gradient");
}
CASE("the gradient reaches x", "Detach only W: the layers below x are trained too.") {
  const Tensor W = randn({4, 3});
  gradients([&](const Tensor& x, const Tensor& A, const Tensor& B) { return answer.lora(x, W, A, B, 6); },
            {{2, 3}, {2, 3}, {4, 2}});
}
CASE("merged it is the same map", "W + (alpha / r) B A: B is on the left.") {
  const Tensor x = randn({2, 3}), W = randn({4, 3}), A = randn({2, 3}), B = randn({4, 2});
  const Tensor y = matmul(x, W.t()) + 3 * matmul(matmul(x, A.t()), B.t());
  near("x merged^T", matmul(x, answer.merge(W, A, B, 6).t()), y);
}
CASE("x, W, A and B are as before",
     "Tensor M = W is another handle of the same numbers, and M += ... writes into them, const or not: "
     "W + ... makes a new tensor.") {
  const Tensor x = randn({2, 3}), W = randn({4, 3}), A = randn({2, 3}), B = randn({4, 2});
  const Tensor x0 = x.clone(), W0 = W.clone(), A0 = A.clone(), B0 = B.clone();
  answer.lora(x, W, A, B, 6), answer.merge(W, A, B, 6);
  near("x afterwards", x, x0), near("W afterwards", W, W0);
  near("A afterwards", A, A0), near("B afterwards", B, B0);
}
CASE("forgetting is above 0", "after - before: a loss that rises is forgetting.") {
  expect(answer.forgotten({1, 1}, {2, 4}) > 0, "losses have risen, and nothing is forgotten");
}
CASE("it is the mean over examples", "Divide by their number.") {
  near("|forgotten|", std::abs(answer.forgotten({2, 5, 1}, {8, 2, 1})), 1);  // one rises by 6, one falls by 3
  near("|forgotten|", std::abs(answer.forgotten({0.5, 1}, {1, 1.25})), 0.375);
}
