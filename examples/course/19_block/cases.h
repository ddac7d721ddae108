using Part = std::function<Tensor(const Tensor&)>;
struct Answer {
  Tensor (*drop)(const Tensor& x, const Tensor& keep, double p, bool training);
  Tensor (*ffn)(const Tensor& x, const Tensor& W1, const Tensor& b1, const Tensor& W2, const Tensor& b2);
  Tensor (*block)(const Tensor& x, const Part& attention, const Part& feed_forward);
};
#define ANSWER(FROM) \
  { FROM::drop, FROM::ffn, FROM::block }

CASE("dropout keeps the mean", "In training the kept elements are divided by 1 - p.") {
  near("of 2, with p = 0.75 and kept", answer.drop(full({1}, 2.0), ones({1}), 0.75, true).item(), 8);
}
CASE("inference drops nothing", "x itself, neither masked nor scaled.") {
  const Tensor x = randn({4});
  near("dropout in inference", answer.drop(x, zeros({4}), 0.5, false), x);
}
CASE("training drops", "Where keep is 0 the result is 0.") {
  near("where keep is 0", answer.drop(ones({2}), zeros({2}), 0.5, true), zeros({2}));
}
CASE("the network has one gelu, between the products", "gelu(x W1 + b1) W2 + b2.") {
  const Tensor x = randn({3, 2}), W1 = randn({2, 8}), b1 = randn({8}), W2 = randn({8, 2}),
               b2 = randn({2}) - 3;
  near("ffn(x)", answer.ffn(x, W1, b1, W2, b2), linear(gelu(linear(x, W1.t(), b1)), W2.t(), b2));
}
CASE("the first sublayer reads LN(x)", "attention(LN(x)): the norm comes before the sublayer.") {
  Tensor seen;
  const Tensor x = 9 * randn({2, 4});
  answer.block(
      x, [&](const Tensor& z) { return (seen = z).clone(); }, [](const Tensor& z) { return z; });
  near("what attention sees", seen, layer_norm(x));
}
CASE("the second sublayer reads the output of the first",
     "h = x + attention(LN(x)) goes into LN, then into ffn.") {
  Tensor seen;
  const Tensor x = randn({2, 4}), more = randn({2, 4});
  answer.block(
      x, [&](const Tensor&) { return more.clone(); }, [&](const Tensor& z) { return (seen = z).clone(); });
  near("what the feed-forward network sees", seen, layer_norm(x + more));
}
CASE("both sublayers have a residual connection", "y = h + ffn(LN(h)): h stays, and in it x.") {
  const Tensor x = randn({2, 4}), one = randn({2, 4});
  near("y with constant sublayers",
       answer.block(
           x, [&](const Tensor&) { return one.clone(); }, [&](const Tensor&) { return 2 * one; }),
       x + 3 * one);
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  gradients(
      [&](const Tensor& x) {
        return answer.block(
            x, [](const Tensor& z) { return sin(2 * z); }, [](const Tensor& z) { return sin(z); });
      },
      {{2, 8}});
  gradients([&](const Tensor& x) { return answer.drop(x, tensor({1.0, 0.0, 1.0}), 0.25, true); }, {{3}});
  gradients([&](const std::vector<Tensor>& x) { return answer.ffn(x[0], x[1], x[2], x[3], x[4]); },
            {{3, 2}, {2, 8}, {8}, {8, 2}, {2}});
}
