struct Answer {
  Tensor (*attention)(const Tensor& q, const Tensor& k, const Tensor& v, bool causal);
};
#define ANSWER(FROM) \
  { FROM::attention }

CASE("the weights of a query sum to 1", "Softmax over the keys: the last axis of the scores.") {
  const Tensor q = randn({4, 3}), k = randn({4, 3}), v = ones({4, 2});
  near("with all values 1, the output", answer.attention(q, k, v, false), ones({4, 2}));
  near("with all values 1, the causal output", answer.attention(q, k, v, true), ones({4, 2}));
}
CASE("the scores are divided by sqrt(D)", "D is the number of channels of a query: q.size(-1).") {
  const Tensor q = full({1, 9}, 0.5), k = cat({q, -q}), v = tensor({{1.0}, {0.0}});
  const Tensor y = answer.attention(cat({q, q}), k, v, false);
  near("of products 2.25 and -2.25, divided by 3, the first weight", y[0][0].item(),
       1 / (1 + std::exp(-1.5)));
}
CASE("query i is compared with key j", "Score [i][j] is row i of q times row j of k: matmul(q, k.t()).") {
  const Tensor q = randn({4, 3}), k = randn({4, 3}), v = randn({4, 2});
  std::vector<Tensor> rows;
  for (int i = 0; i < 4; ++i) {
    const Tensor weight = ((k * q[i]).sum(1) / std::sqrt(3.0)).exp();
    rows.push_back((v * weight.unsqueeze(1)).sum(0) / weight.sum());
  }
  near("of random q, k and v, without a mask, the output", answer.attention(q, k, v, false), stack(rows));
}
CASE("a change in the future changes nothing",
     "Score [i][j] is -infinity for every j > i, before the softmax.") {
  const Tensor q = randn({5, 3}), k = randn({5, 3}), v = randn({5, 3});
  const Tensor k2 = k.clone(), v2 = v.clone();
  k2.slice(0, 3, 5) += 1.0, v2.slice(0, 3, 5) += 1.0;
  near("the output at positions 0 to 2", answer.attention(q, k2, v2, true).slice(0, 0, 3),
       answer.attention(q, k, v, true).slice(0, 0, 3));
}
CASE("a position sees itself", "The diagonal is not masked: j > i, not j >= i.") {
  const Tensor x = randn({4, 3}), v = randn({4, 3}), v2 = v.clone();
  v2[3] += 1.0;
  const Tensor change = answer.attention(x, x, v2, true)[3] - answer.attention(x, x, v, true)[3];
  expect(change.abs().max().item() > 1e-6, "the value at position 3 does not reach the output at position 3");
}
CASE("without a mask every position sees all", "Mask only if causal.") {
  const Tensor zero = zeros({4, 2}), v = randn({4, 3});
  near("with all scores equal, the output", answer.attention(zero, zero, v, false),
       v.mean(0, true).expand({4, 3}));
}
CASE("the gradient reaches q, k and v", "Stay on the tape: no detach(), no values copied out.") {
  gradients(
      [&](const Tensor& q, const Tensor& k, const Tensor& v) { return answer.attention(q, k, v, true); },
      {{3, 2}, {3, 2}, {3, 2}});
}
