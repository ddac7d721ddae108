struct Answer {
  Tensor (*norm)(const Tensor& x, double eps);
  Tensor (*backward)(const Tensor& x, const Tensor& dy, double eps);
};
#define ANSWER(FROM) \
  { FROM::norm, FROM::norm_backward }

CASE("each token is normalized separately",
     "Mean and variance run over the last axis only: mean(-1, true).") {
  const Tensor x = randn({3, 4}) * 5, longer = cat({x, randn({2, 4})});
  near("norm(x)", answer.norm(longer, 1e-5).slice(0, 0, 3), answer.norm(x, 1e-5));
  near("norm of one token alone", answer.norm(x[1], 1e-5), answer.norm(x, 1e-5)[1]);
}
CASE("the mean of a token becomes 0", "Subtract the mean before you divide.") {
  near("the mean over the channels", answer.norm(randn({3, 8}) + 5, 1e-5).mean({0, 1}), tensor(0.0), 1e-6);
}
CASE("a token gets the length sqrt(d)", "Divide by d, not by d - 1, and not by the length of x - mean.") {
  near("|y| for d = 4", answer.norm(100 * tensor({1.0, 0.0, 0.0, 0.0}), 1e-5).norm().item(), 2, 1e-6);
}
CASE("eps is inside the root", "sigma = sqrt(var + eps), not sqrt(var) + eps.") {
  const Tensor x = tensor({1.0, 0.0, 0.0, 0.0}) * 0.04, y = answer.norm(x, 1e-3);
  near("the first y of a short token, over that of a long one,",
       y[0].item() / answer.norm(x * 1e6, 1e-3)[0].item(), 0.48, 0.05);
}
CASE("the backward is the gradient", "sigma and mean depend on every channel of x: both give a term.") {
  const auto value = [](const Tensor& x) { return by_library([&] { return layer_norm(x, {}, {}, 1e-3); }); };
  const auto backward = [&](const Tensor& x, const Tensor& dy) { return answer.backward(x, dy, 1e-3); };
  backward_of(value, backward, {{3, 5}});
  backward_of(value, backward, {{2, 3, 5}});
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const Tensor& x) { return answer.norm(x, 1e-3); }, {{3, 5}});
}
