struct Answer {
  std::pair<double, double> (*fit)(const Tensor& x, const Tensor& y, double lr, int steps);
};
#define ANSWER(FROM) \
  { FROM::fit_line }

CASE("no step, no change", "a and b begin at 0.") {
  const auto [a, b] = answer.fit(tensor({1.0, 2.0}), tensor({2.0, 4.0}), 0.1, 0);
  near("a", a, 0), near("b", b, 0);
}
CASE("one step goes down",
     "Against the gradient: a - lr dloss/da. The derivative of a square has a factor 2.") {
  const auto [a, b] = answer.fit(tensor({1.0, 2.0}), tensor({2.0, 4.0}), 0.1, 1);
  expect(a > 0 && b > 0, "the step goes up the slope");
  near("a after one step on (1, 1)", answer.fit(tensor({1.0}), tensor({1.0}), 0.1, 1).first, 0.2);
}
CASE("the loss is a mean", "Duplicating every example changes nothing.") {
  const Tensor x = randn({3}), y = randn({3});
  const auto once = answer.fit(x, y, 0.1, 1), twice = answer.fit(cat({x, x}), cat({y, y}), 0.1, 1);
  near("a after one step on doubled data", twice.first, once.first);
}
CASE("the second step begins without a gradient", "Gradients add up: zero_grad() before each backward.") {
  // x = 1, y = 1: the gradients of a and b are both 2 (a + b - 1).
  const auto [a, b] = answer.fit(tensor({1.0}), tensor({1.0}), 0.1, 2);
  near("|a| after two steps", std::abs(a), std::abs(b), 0.2);
  near("|a|/|a of one step|", std::abs(a) / std::abs(answer.fit(tensor({1.0}), tensor({1.0}), 0.1, 1).first),
       1.6, 0.02);
}
CASE("both parameters move together", "Compute both gradients before you change either parameter.") {
  const auto [a, b] = answer.fit(tensor({1.0}), tensor({1.0}), 0.1, 1);
  near("a - b after one step on (1, 1)", a - b, 0);
}
CASE("it finds a line", "Many steps on exact data end at the line.") {
  const Tensor x = linspace(-1, 1, 9);
  const auto [a, b] = answer.fit(x, 3 * x - 1, 0.3, 300);
  near("a", a, 3, 1e-6), near("b", b, -1, 1e-6);
}
