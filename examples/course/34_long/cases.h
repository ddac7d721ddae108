struct Answer {
  Tensor (*rotate)(const Tensor& x, double base);
  Tensor (*window)(std::int64_t T, std::int64_t w);
  Tensor (*alibi)(std::int64_t T, double m);
};
#define ANSWER(FROM) \
  { FROM::rotate, FROM::window, FROM::alibi }

CASE("position 0 is unchanged", "The angle is t times a speed: 0 at t = 0.") {
  const Tensor x = randn({3, 4});
  near("row 0", answer.rotate(x, 10000)[0], x[0]);
}
CASE("lengths are preserved", "A rotation: cos and sin in both lines, with opposite signs of sin.") {
  const Tensor x = randn({3, 6});
  near("the length of row 2", answer.rotate(x, 100)[2].norm().item(), x[2].norm().item());
}
CASE("the pairs and their speeds",
     "Channel i is rotated with i + D/2, by t base^(-2i/D). A quotient of two integers is cut to an integer: "
     "write -2.0 * i / D.") {
  const Tensor one = tensor({{1.0, 1.0, 0.0, 0.0}}), y = answer.rotate(cat({0 * one, one, one, one}), 100);
  for (const int t : {1, 3})
    near(phrase("row {0} of [1, 1, 0, 0], base 100", t), y[t],
         tensor({std::cos(t), std::cos(0.1 * t), std::sin(t), std::sin(0.1 * t)}));
}
CASE("a window sees itself and w - 1 before it", "0 <= i - j < w.") {
  near("window(3, 2)", answer.window(3, 2), tensor({{1.0, 0.0, 0.0}, {1.0, 1.0, 0.0}, {0.0, 1.0, 1.0}}));
  near("window(4, 1)", answer.window(4, 1), eye(4));
  near("window(4, 3)", answer.window(4, 3), tril(ones({4, 4})) - tril(ones({4, 4}), -3));
}
CASE("ALiBi penalizes distance",
     "-m (i - j): the further, the lower; nothing for the future, which the mask hides.") {
  near("alibi(3, 0.5)", answer.alibi(3, 0.5), tensor({{0.0, 0.0, 0.0}, {-0.5, 0.0, 0.0}, {-1.0, -0.5, 0.0}}));
  near("alibi(2, 3)", answer.alibi(2, 3), tensor({{0.0, 0.0}, {-3.0, 0.0}}));
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const Tensor& x) { return answer.rotate(x, 100); }, {{3, 4}});
}
