struct Answer {
  Tensor (*embed)(const Tensor& ids, const Tensor& table);
  Tensor (*backward)(const Tensor& ids, const Tensor& dy, std::int64_t V);
  Tensor (*positions)(std::int64_t T, std::int64_t C);
};
#define ANSWER(FROM) \
  { FROM::embed, FROM::embed_backward, FROM::positions }

CASE("a token is a row of the table", "table[ids] picks rows.") {
  const Tensor table = randn({4, 3});
  near("embed([2, 0])", answer.embed(tensor({2, 0}), table), stack({table[2], table[0]}));
}
CASE("a token that occurs twice gets the sum", "Gradients of one row add up: index_add, not a plain write.") {
  near("dtable", answer.backward(tensor({1, 1}), tensor({{1.0, 2.0}, {3.0, 4.0}}), 3),
       tensor({{0.0, 0.0}, {4.0, 6.0}, {0.0, 0.0}}));
}
CASE("a token that does not occur gets 0", "The gradient has the shape of the table: [V, C].") {
  near("dtable", answer.backward(tensor({2}), tensor({{5.0}}), 4), tensor({{0.0}, {0.0}, {5.0}, {0.0}}));
}
CASE("positions count from 0", "At t = 0 every sine is 0 and every cosine 1.") {
  near("the sum of P[0]", answer.positions(3, 6)[0].sum().item(), 3);
}
CASE("sine and cosine alternate", "Channels 2i and 2i + 1 are a pair.") {
  near("P[0]", answer.positions(1, 4).flatten(), tensor({0.0, 1.0, 0.0, 1.0}));
}
CASE("the wave lengths go up to 10000 * 2 pi",
     "The exponent is 2i/C, the same for both of a pair. A quotient of two integers is cut to an integer: "
     "make one "
     "of them a double.") {
  Tensor want = zeros({2, 6});
  for (int c = 0; c < 6; c += 2)
    for (int t = 0; t < 2; ++t) {
      const double angle = t / std::pow(10000, c / 6.0);
      want[t][c] = std::sin(angle), want[t][c + 1] = std::cos(angle);
    }
  near("P of 2 tokens and 6 channels", answer.positions(2, 6), want);
}
CASE("the gradient reaches the table", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const Tensor& table) { return answer.embed(tensor({1, 0, 1}), table); }, {{3, 2}});
}
