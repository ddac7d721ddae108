struct Answer {
  double (*rate)(int step, int warmup, int total, double peak, double floor);
  std::vector<Tensor> (*clip)(const std::vector<Tensor>& g, double limit);
};
#define ANSWER(FROM) \
  { FROM::rate, FROM::clip }

CASE("the first step already moves", "peak step / warmup with step = 1: not 0.") {
  near("rate(1) with 4 steps of warm-up", answer.rate(1, 4, 12, 8, 0), 2);
  near("rate(1) with 4 steps of warm-up", answer.rate(1, 4, 12, 8, 1), 2);
}
CASE("the peak is at the end of the warm-up", "Both formulas give peak there: no jump.") {
  near("rate(4)", answer.rate(4, 4, 12, 8, 1), 8);
  expect(answer.rate(5, 4, 12, 8, 1) > 7, "after the peak the rate jumps");
}
CASE("the cosine ends at the floor", "At step = total q is 1, and the cosine -1.") {
  near("rate(12)", answer.rate(12, 4, 12, 8, 1), 1);
}
CASE("half way it is half way",
     "q counts from the end of the warm-up, and is not an integer; a cosine is not a line.") {
  near("rate(8)", answer.rate(8, 4, 12, 8, 0), 4);
  near("rate(8)", answer.rate(8, 4, 12, 8, 2), 5);
  near("rate(6)", answer.rate(6, 4, 12, 8, 0), 4 + 4 * std::sqrt(0.5));
}
CASE("small gradients are unchanged", "Only if n > limit.") {
  const std::vector<Tensor> g = {tensor({0.3}), tensor({0.4})};
  near("g[0]", answer.clip(g, 1)[0], g[0]);
  near("g[0]", answer.clip({zeros({2})}, 1)[0], zeros({2}));
}
CASE("one norm for all tensors", "Sum the squares of all tensors, then one root and one factor.") {
  const std::vector<Tensor> g = answer.clip({tensor({{1.0, 2.0}, {2.0, 0.0}}), tensor({4.0})}, 2.5);
  near("g[0]", g.at(0), tensor({{0.5, 1.0}, {1.0, 0.0}})), near("g[1]", g.at(1), tensor({2.0}));
}
CASE(
    "the inputs are as before",
    "Copies of tensors share their numbers, and x *= factor writes into the caller's, const or not. Make new "
    "ones: x * factor.") {
  const std::vector<Tensor> g = {tensor({3.0}), tensor({4.0})};
  answer.clip(g, 1);
  near("g[0] afterwards", g[0], tensor({3.0})), near("g[1] afterwards", g[1], tensor({4.0}));
}
