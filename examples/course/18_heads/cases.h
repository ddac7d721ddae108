struct Answer {
  Tensor (*scores)(const Tensor& q, const Tensor& k);
  Tensor (*heads)(const Tensor& q, const Tensor& k, const Tensor& v);
  Tensor (*qk_norm)(const Tensor& q, const Tensor& k);
};
#define ANSWER(FROM) \
  { FROM::scores, FROM::heads, FROM::qk_norm_scores }

CASE("the scale is that of one head", "sqrt(D) with D = q.size(-1), not the model's C = H D.") {
  const Tensor q = ones({1, 4, 1, 9});
  near("the score of two vectors of ones, D = 9", answer.scores(q, q).flatten()[0].item(), 3);
}
CASE("each head has its own scores", "matmul of [B, H, T, D] and [B, H, D, T].") {
  const Tensor q = randn({2, 3, 4, 4}), k = randn({2, 3, 4, 4});
  near("head 1 of the scores", answer.scores(q, k)[0][1], matmul(q[0][1], k[0][1].t()) / 2);
}
CASE("weights sum to 1 over the keys", "Softmax over the last axis, not over the heads.") {
  const Tensor q = randn({1, 2, 3, 4}), k = randn({1, 2, 3, 4});
  near("with all values 1", answer.heads(q, k, ones({1, 2, 3, 4})), ones({1, 3, 8}));
}
CASE("heads are concatenated", "Transpose to [B, T, H, D] before you reshape.") {
  const Tensor zero = zeros({1, 2, 3, 2}), v = cat({full({1, 1, 3, 2}, 1.0), full({1, 1, 3, 2}, 2.0)}, 1);
  near("with values 1 in head 0 and 2 in head 1", answer.heads(zero, zero, v)[0][0],
       tensor({1.0, 1.0, 2.0, 2.0}));
}
CASE("each head attends by its own scores",
     "softmax(scores(q, k)) v, for each head of each batch; no mask.") {
  const Tensor q = randn({2, 2, 3, 4}), k = randn({2, 2, 3, 4}), v = randn({2, 2, 3, 4});
  std::vector<Tensor> batches;
  for (int b = 0; b < 2; ++b) {
    std::vector<Tensor> of_heads;
    for (int h = 0; h < 2; ++h)
      of_heads.push_back(matmul(softmax(matmul(q[b][h], k[b][h].t()) / 2, -1), v[b][h]));
    batches.push_back(cat(of_heads, 1));
  }
  near("of random q, k and v, the output", answer.heads(q, k, v), stack(batches));
}
CASE("QK-norm: size does not matter", "Divide q and k each by their own rms.") {
  const Tensor q = randn({1, 2, 3, 4}), k = randn({1, 2, 3, 4});
  const auto sizes = [] {
    return 1 + 99 * rand({1, 2, 3, 1});
  };  // a different one for each token of each head
  near("of other sizes of q and k, the score", answer.qk_norm(sizes() * q, sizes() * k), answer.qk_norm(q, k),
       1e-6);
}
CASE("QK-norm: a match scores sqrt(D)", "rms over D, then the product divided by sqrt(D): D / sqrt(D).") {
  const Tensor q = randn({1, 1, 1, 16}), k = randn({1, 1, 1, 16});
  near("the score of q with itself, D = 16", answer.qk_norm(q, q).item(), 4, 1e-6);
  near("the score of q with another k, D = 16", answer.qk_norm(q, k).item(),
       4 * (q * k).sum().item() / (q.norm() * k.norm()).item(), 1e-6);
}
CASE("the gradient reaches q, k and v", "Stay on the tape: no detach(), no values copied out.") {
  const test::Input input = {1, 2, 3, 2};
  gradients([&](const Tensor& q, const Tensor& k) { return answer.scores(q, k); }, {input, input});
  gradients([&](const Tensor& q, const Tensor& k, const Tensor& v) { return answer.heads(q, k, v); },
            {input, input, input});
  gradients([&](const Tensor& q, const Tensor& k) { return answer.qk_norm(q, k); }, {input, input});
}
