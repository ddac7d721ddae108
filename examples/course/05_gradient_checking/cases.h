struct Answer {
  Tensor (*gradient)(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double h);
  std::function<Tensor(const Tensor&)> (*weighted)(const std::function<Tensor(const Tensor&)>& f,
                                                   const Tensor& weights);
};
#define ANSWER(FROM) \
  { FROM::numeric_gradient, FROM::weighted_sum }

CASE("the gradient of a linear function",
     "The two points are 2h apart: divide by 2h. If every element is 0: Tensor y = x is no copy, x.clone() "
     "is one.") {
  const Tensor a = randn({4}), x = randn({4});
  near("the gradient of sum(a x)", answer.gradient([&](const Tensor& z) { return (a * z).sum(); }, x, 1e-3),
       a);
}
CASE("it is exact for a square, even with a large h",
     "Take the difference on both sides: x + h e_i and x - h e_i.") {
  const Tensor x = randn({3}), y = randn({3});
  const Tensor of_square = 2 * x, of_cube = 3 * y * y + 0.25;  // not exact: it contains h^2
  near("the gradient of sum(x x), h = 0.5",
       answer.gradient([](const Tensor& z) { return (z * z).sum(); }, x, 0.5), of_square);
  near("the gradient of sum(x x x), h = 0.5",
       answer.gradient([](const Tensor& z) { return (z * z * z).sum(); }, y, 0.5), of_cube);
}
CASE("one element moves at a time", "A fresh step for each element.") {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  near("the gradient of x0 x1 x2", answer.gradient([](const Tensor& z) { return z.prod(); }, x, 1e-3),
       tensor({6.0, 3.0, 2.0}), 1e-6);
}
CASE("x is unchanged", "Do not write into x, or restore its values.") {
  const Tensor x = tensor({1.0, 2.0, 3.0}), before = x.clone();
  answer.gradient([](const Tensor& z) { return z.sum(); }, x, 0.25);
  near("x afterwards", x, before);
}
CASE("a wrong softmax does not hide",
     "sum(softmax(x)) is 1 for every x: multiply by the weights before you sum.") {
  const Tensor weights = tensor({1.0, -2.0, 0.5});
  const std::function<Tensor(const Tensor&)> soft = [](const Tensor& z) { return softmax(z, -1); };
  near("the weighted sum", answer.weighted(soft, weights)(zeros({3})).item(), -0.5 / 3);
  const Tensor table = randn({2, 3}), x = randn({3});
  const std::function<Tensor(const Tensor&)> stacked = [](const Tensor& z) { return stack({z, 2 * z}); };
  near("the weighted sum of x and 2x, stacked to [2, 3],", answer.weighted(stacked, table)(x).item(),
       (table[0] * x + 2 * table[1] * x).sum().item());
}
CASE("the function keeps f and weights",
     "The function you return lives longer than f and weights: capture copies, [=], not references, [&].") {
  std::function<Tensor(const Tensor&)> f = [](const Tensor& z) { return 2 * z; };
  Tensor weights = tensor({1.0, -2.0});
  const auto weighted = answer.weighted(f, weights);
  const double before = weighted(ones({2})).item();
  f = [](const Tensor& z) { return 7 * z; }, weights = tensor({1.0, 1.0});  // what references would see
  near("the weighted sum, after f and weights have got other values,", weighted(ones({2})).item(), before);
}
