struct Answer {
  Tensor (*swiglu)(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd);
  Tensor (*serve)(const Tensor& k, std::int64_t H);
  Tensor (*t5)(const Tensor& q, const Tensor& k, const Tensor& bias);
};
#define ANSWER(FROM) \
  { FROM::swiglu, FROM::serve, FROM::t5_scores }

CASE("the gate has silu", "z sigmoid(z), not gelu, relu or sigmoid alone.") {
  const Tensor one = ones({1, 1});
  near("with all weights and x = 1", answer.swiglu(one, one, one, one).item(), 1 / (1 + std::exp(-1.0)));
}
CASE("the other factor is linear", "silu on x Wg only; x Wu is multiplied unchanged. Wd comes last.") {
  const Tensor x = randn({2, 3}), g = randn({3, 4}), u = randn({3, 4}), d = randn({4, 3});
  near("of random x and weights, ffn(x)", answer.swiglu(x, g, u, d),
       matmul(matmul(x, g) * sigmoid(matmul(x, g)) * matmul(x, u), d));
}
CASE("neighbouring queries share a head", "0 0 1 1, not 0 1 0 1: repeat_interleave, not repeat.") {
  const Tensor k = tensor({0.0, 1.0}).reshape({1, 2, 1, 1});
  near("the heads", answer.serve(k, 4).flatten(), tensor({0.0, 0.0, 1.0, 1.0}));
}
CASE("as many heads as the queries", "Each is repeated H / Hkv times, along axis 1.") {
  const Tensor k = randn({2, 2, 5, 3}), first = k.slice(1, 0, 1), second = k.slice(1, 1, 2);
  near("[2, 2, 5, 3] for 6 heads", answer.serve(k, 6), cat({first, first, first, second, second, second}, 1));
}
CASE("T5 does not divide by sqrt(D)", "The scores are q k^T, without a divisor.") {
  const Tensor q = randn({3, 4}), k = randn({3, 4});
  near("with bias 0", answer.t5(q, k, zeros({3, 3})), matmul(q, k.t()));
}
CASE("T5 adds its bias to the scores", "Before the softmax, one number for each distance.") {
  const Tensor bias = randn({2, 2});
  near("with q = 0", answer.t5(zeros({2, 4}), ones({2, 4}), bias), bias);
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const std::vector<Tensor>& x) { return answer.swiglu(x[0], x[1], x[2], x[3]); },
            {{2, 3}, {3, 4}, {3, 4}, {4, 3}});
  gradients([&](const Tensor& k) { return answer.serve(k, 4); }, {{1, 2, 2, 2}});
  gradients([&](const Tensor& q, const Tensor& k, const Tensor& bias) { return answer.t5(q, k, bias); },
            {{3, 2}, {3, 2}, {3, 3}});
}
