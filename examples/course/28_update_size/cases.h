struct Answer {
  Constants (*constants)(int L);
  Tensor (*deep_norm)(const Tensor& x, const Tensor& fx, double alpha);
  std::vector<double> (*admin)(const std::vector<double>& variances);
  double (*update_size)(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw);
};
#define ANSWER(FROM) \
  { FROM::deep_norm_constants, FROM::deep_norm, FROM::admin, FROM::update_size }

CASE("alpha is a fourth root", "(2L)^(1/4): std::pow(2.0 * L, 0.25).") {
  near("alpha of 8 blocks", answer.constants(8).alpha, 2);
  near("alpha of 128 blocks", answer.constants(128).alpha, 4);
}
CASE("beta shrinks with depth",
     "(8L)^(-1/4): the exponent is negative. In C++ -1 / 4 is 0, a quotient of integers: write -0.25.") {
  near("beta of 2 blocks", answer.constants(2).beta, 0.5);
  near("beta of 32 blocks", answer.constants(32).beta, 0.25);
}
CASE("alpha multiplies the shortcut", "LN(alpha x + f(x)), not LN(x + alpha f(x)).") {
  const Tensor x = randn({2, 8}), fx = randn({2, 8});
  near("deep_norm(x, fx, 3)", answer.deep_norm(x, fx, 3), layer_norm(3 * x + fx));
}
CASE("omega sums earlier variances", "Only the variances of earlier branches: j < i.") {
  near("omega_1 and omega_2", answer.admin({3, 12, 100}), std::vector<double>{1, 2, 4});
}
CASE("an update is a change of the output", "Subtract f(w): not |f(w + dw)|, and not |dw|.") {
  const Tensor w = randn({2, 3}), dw = randn({2, 3});
  near("the update size of f(w) = w^2", answer.update_size([](const Tensor& z) { return z.square(); }, w, dw),
       (2 * w * dw + dw.square()).norm().item());
  const Tensor before = w.clone();
  answer.update_size([](const Tensor& z) { return z.square(); }, w, dw);
  near("w afterwards", w, before);
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const Tensor& x, const Tensor& fx) { return answer.deep_norm(x, fx, 3); }, {{2, 8}, {2, 8}});
}
