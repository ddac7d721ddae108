struct Answer {
  Tensor (*attention)(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal);
};
#define ANSWER(FROM) \
  { FROM::attention }

namespace {
Tensor all(std::int64_t T) { return ones({T, T}, boolean); }
}  // namespace

CASE("the weights of a query sum to 1", "Softmax over the keys: the last axis of the scores.") {
  const Tensor q = randn({4, 3}), k = randn({4, 3}), v = ones({4, 2});
  near("with all values 1, the output", answer.attention(q, k, v, all(4), false), ones({4, 2}));
  near("with all values 1, the causal output", answer.attention(q, k, v, all(4), true), ones({4, 2}));
}
CASE("the scores are divided by sqrt(D)", "D is the number of channels of a query: q.size(-1).") {
  const Tensor q = full({1, 9}, 0.5), k = cat({q, -q}), v = tensor({{1.0}, {0.0}});
  const Tensor y = answer.attention(cat({q, q}), k, v, all(2), false);
  near("of products 2.25 and -2.25, divided by 3, the first weight", y[0][0].item(),
       1 / (1 + std::exp(-1.5)));
}
CASE("query i is compared with key j",
     "Score [i][j] is row i of q times row j of k: matmul(q, k.transpose(-2, -1)).") {
  const Tensor q = randn({4, 3}), k = randn({4, 3}), v = randn({4, 2});
  std::vector<Tensor> rows;
  for (int i = 0; i < 4; ++i) {
    const Tensor weight = ((k * q[i]).sum(1) / std::sqrt(3.0)).exp();
    rows.push_back((v * weight.unsqueeze(1)).sum(0) / weight.sum());
  }
  near("of random q, k and v, without a mask, the output", answer.attention(q, k, v, all(4), false),
       stack(rows));
}
CASE("a change in the future changes nothing",
     "Score [i][j] is -infinity for every j > i, before the softmax.") {
  const Tensor q = randn({5, 3}), k = randn({5, 3}), v = randn({5, 3});
  const Tensor k2 = k.clone(), v2 = v.clone();
  k2.slice(0, 3, 5) += 1.0, v2.slice(0, 3, 5) += 1.0;
  near("the output at positions 0 to 2", answer.attention(q, k2, v2, all(5), true).slice(0, 0, 3),
       answer.attention(q, k, v, all(5), true).slice(0, 0, 3));
}
CASE("a position sees itself", "The diagonal is not masked: j > i, not j >= i.") {
  const Tensor x = randn({4, 3}), v = randn({4, 3}), v2 = v.clone();
  v2[3] += 1.0;
  const Tensor change =
      answer.attention(x, x, v2, all(4), true)[3] - answer.attention(x, x, v, all(4), true)[3];
  expect(change.abs().max().item() > 1e-6, "the value at position 3 does not reach the output at position 3");
}
CASE("without a mask every position sees all", "Mask only if causal.") {
  const Tensor zero = zeros({4, 2}), v = randn({4, 3});
  near("with all scores equal, the output", answer.attention(zero, zero, v, all(4), false),
       v.mean(0, true).expand({4, 3}));
}
CASE("a mask hides what is false", "The mask says what may be seen, so hide !mask, before the softmax.") {
  const Tensor q = randn({4, 3}), k = randn({4, 3}), v = randn({4, 3});
  const Tensor k2 = k.clone(), v2 = v.clone();
  k2[1] += 1.0, v2[1] += 1.0;
  const Tensor seen = stack({arange(4) != 1, arange(4) != 1, arange(4) != 1, arange(4) != 1});
  near("with key 1 hidden, and changed, the output at positions 2 and 3",
       answer.attention(q, k2, v2, seen, false).slice(0, 2, 4),
       answer.attention(q, k, v, seen, false).slice(0, 2, 4));
  near("with key 1 hidden and all values 1, the output", answer.attention(q, k, ones({4, 2}), seen, false),
       ones({4, 2}));
}
CASE("hidden is hidden, however low the other scores are",
     "Set hidden scores to -infinity: next to scores of -1,000,000 a -100 is the largest.") {
  const Tensor q = full({3, 4}, 1000.0), v = tensor({{1.0}, {2.0}, {4.0}});
  const Tensor seen = (arange(3) != 1).unsqueeze(0).expand({3, 3});
  near("with all scores near -1,000,000 and key 1 hidden, the output",
       answer.attention(q, -q, v, seen, false), full({3, 1}, 2.5));
  near("with all scores near -1,000,000, the causal output", answer.attention(q, -q, v, all(3), true),
       tensor({{1.0}, {1.5}, {7.0 / 3}}));
}
CASE("a query that sees no key gives 0",
     "The softmax of a row of -infinity is NaN: set hidden weights to 0 after it, too.") {
  const Tensor q = randn({3, 2}), k = randn({3, 2}), v = randn({3, 2});
  const Tensor mask = stack({arange(3) >= 0, arange(3) > 5, arange(3) >= 0});
  const Tensor y = answer.attention(q, k, v, mask, false);
  near("the row of the query", y[1], zeros({2}));
  near("the row of the query before it", y[0], answer.attention(q, k, v, all(3), false)[0]);
}
CASE("mask and causal hide together", "A key is hidden if one of the two hides it.") {
  const Tensor zero = zeros({3, 2}), v = tensor({{1.0}, {2.0}, {4.0}});
  const Tensor mask = stack({arange(3) >= 0, arange(3) >= 1, arange(3) != 1});
  near("with all scores equal, the output", answer.attention(zero, zero, v, mask, true),
       tensor({{1.0}, {2.0}, {2.5}}));
}
CASE("texts and heads are a batch",
     "transpose(-2, -1), and softmax over the axis -1, whatever stands before.") {
  const Tensor q = randn({2, 3, 4, 5}), k = randn({2, 3, 4, 5}), v = randn({2, 3, 4, 2});
  const Tensor mask = rand({2, 3, 4, 4}) < 0.7;  // another one for each head of each text
  std::vector<Tensor> texts;
  for (int b = 0; b < 2; ++b) {
    std::vector<Tensor> heads;
    for (int h = 0; h < 3; ++h)
      heads.push_back(answer.attention(q[b][h], k[b][h], v[b][h], mask[b][h], true));
    texts.push_back(stack(heads));
  }
  near("of q, k [2, 3, 4, 5] and a mask [2, 3, 4, 4], the output", answer.attention(q, k, v, mask, true),
       stack(texts));
  near("of the same with a mask [4, 4], head 2 of text 1", answer.attention(q, k, v, mask[0][0], false)[1][2],
       answer.attention(q[1][2], k[1][2], v[1][2], mask[0][0], false));
}
CASE("the gradient reaches q, k and v", "Stay on the tape: no detach(), no values copied out.") {
  gradients([&](const Tensor& q, const Tensor& k,
                const Tensor& v) { return answer.attention(q, k, v, all(3), true); },
            {{3, 2}, {3, 2}, {3, 2}});
}
CASE("a query that sees no key has the gradient 0", "A NaN must not reach the gradient either.") {
  const Tensor mask = stack({arange(3) >= 0, arange(3) > 5, arange(3) >= 0});
  gradients([&](const Tensor& q, const Tensor& k,
                const Tensor& v) { return answer.attention(q, k, v, mask, false); },
            {{3, 2}, {3, 2}, {3, 2}});
}
