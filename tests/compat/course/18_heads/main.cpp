// The channels cut into subspaces, and how large scores become.
// Its chapter: docs/course/18_heads/README.md
#include <cmath>
#include <cstdio>
#include <vector>
#include "gradus/gradus.h"
using namespace gradus;

namespace {
// [heads]
/// x [B, T, C] in H heads of D = C / H channels: [B, H, T, D].
Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.reshape({x.size(0), x.size(1), H, -1}).transpose(1, 2);
}

Tensor multihead(const nn::MultiheadAttention& m, const Tensor& x, std::int64_t H) {
  const std::vector<Tensor> p = chunk(linear(x, m.in_proj_weight, m.in_proj_bias), 3, -1);
  const Tensor out =
      scaled_dot_product_attention(split_heads(p[0], H), split_heads(p[1], H), split_heads(p[2], H));
  return m.out_proj(out.transpose(1, 2).reshape(x.shape()));  // concatenated, then mixed
}
// [/heads]

void by_hand(int H) {
  const nn::MultiheadAttention m({.d_model = 64, .heads = H});
  const Tensor x = randn({2, 5, 64});
  std::printf("64 channels in %2d heads, by hand and by the library: %s; %d parameters\n", H,
              allclose(multihead(m, x, H), m(x), 0, 1e-10) ? "equal" : "different", int(m.num_parameters()));
}

void why_the_root() {
  std::printf(
      "\nWhy sqrt(D)? 16 keys, 400 queries: how far scores spread (root mean square), the largest weight\n"
      "(mean), and |dq|, the gradient that comes back to a query (median and mean):\n\n"
      "    D   scores          spread   largest    median      mean\n");
  for (const std::int64_t D : {4, 64, 1024})
    for (const bool root : {false, true}) {
      const Tensor q = randn({400, D}).requires_grad_(), k = randn({16, D});
      const Tensor S = matmul(q, k.t()) / (root ? std::sqrt(double(D)) : 1.0), P = softmax(S, -1);
      (P * randn(P.shape())).sum().backward();  // a random linear loss
      const Tensor dq = sort(q.grad().norm(2, -1)).first;
      std::printf("%5d   %-15s %6.1f %9.2f %9.4f %9.2f\n", int(D), root ? "q k / sqrt(D)" : "q k",
                  S.square().mean().sqrt().item(), P.max(-1).mean().item(), dq[200].item(), dq.mean().item());
    }
}

Tensor basis(const Tensor& w) {  // orthonormal, of its rows (Gram and Schmidt)
  const Tensor q = zeros_like(w);
  for (std::int64_t i = 0; i < w.size(0); ++i) q[i] = normalize(w[i] - matmul(matmul(q, w[i]), q), 2, -1);
  return q;
}

/// The overlap of two heads' query subspaces: the mean squared cosine of their principal angles. 1: the same.
double shared(const nn::GPT& gpt) {
  const NoGrad guard;
  const std::vector<Tensor> heads =
      split(gpt.state_dict().at("layers.1.self_attn.in_proj_weight").slice(0, 0, 32), 8);
  return matmul(basis(heads[0]), basis(heads[1]).t()).square().sum().item() / 8;
}

/// The largest |q k| / sqrt(D), for tokens x [1, T, 32] whose length layer norm has fixed and w [96, 32].
double largest(const Tensor& x, const Tensor& w, bool qk_norm = false) {
  const std::vector<Tensor> p = chunk(linear(layer_norm(x), w), 3, -1);
  Tensor q = split_heads(p[0], 4), k = split_heads(p[1], 4);
  if (qk_norm) q = layer_norm(q), k = layer_norm(k);
  return (matmul(q, k.transpose(-2, -1)) / std::sqrt(8.0)).abs().max().item();
}

void order_one() {
  const Tensor x = randn({1, 64, 32}), w = randn({96, 32}) / std::sqrt(32.0);
  const char* format = "  %-36s %8.1f %10.1f\n";
  std::printf("\nThe largest |q k| / sqrt(D), D = 8:     without   with QK-norm\n");
  std::printf(format, "layer norm, matrices N(0, 1/C)", largest(x, w), largest(x, w, true));
  std::printf(format, "tokens ten times as long", largest(10 * x, w), largest(10 * x, w, true));
  std::printf(format, "matrices four times as large", largest(x, 4 * w), largest(x, 4 * w, true));
}

/// Lines of 8 pairs after a start token, each one of 4 boxes and its content, one of 4 things: [B, 17].
Tensor lines(std::int64_t B) {
  const Tensor boxes = randint(0, 4, {B, 8}),
               things = gather(4 + 4 * arange(4) + randint(0, 4, {B, 4}), 1, boxes);
  return cat({full({B, 1}, 20), stack({boxes, things}, 2).reshape({B, 16})}, 1);
}

/// Trains a GPT; prints the largest score of its second layer and the overlap of two heads, before and after.
void train(bool qk_norm, std::uint64_t seed) {
  manual_seed(seed);
  const nn::GPT gpt({.vocab = 21,
                     .context = 16,
                     .layers = 2,
                     .block = {.d_model = 32, .heads = 4, .qkv_bias = false, .qk_norm = qk_norm}});
  optim::Adam opt(gpt.parameters(), {.lr = 0.01, .eps = 1e-6});  // eps: no steps on rounding noise
  std::printf("\n  %-13s", qk_norm ? "with QK-norm" : "without");
  for (int step = 0; step <= 300; ++step) {
    nn::Probe probe;
    const Tensor ids = lines(16);
    opt.zero_grad();
    gpt.loss(ids.slice(1, 0, 16), ids.slice(1, 1)).backward();
    if (step % 300 == 0) std::printf("  %10.2f %6.2f", probe.rows()[1].largest_logit, shared(gpt));
    opt.step();
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  for (const int H : {1, 4, 16}) by_hand(H);
  why_the_root();
  order_one();
  std::printf(
      "\nA GPT of two layers before and after 300 steps; largest score, and overlap of two heads' queries\n"
      "(1: the same directions; by chance D / C = 0.25), three seeds each:\n"
      "                     before              after");
  for (const bool qk_norm : {false, true})
    for (const std::uint64_t seed : {0U, 1U, 2U}) train(qk_norm, seed);
  std::printf("\n");
}
