// Attention by hand: an average of the values, weighted by how well keys fit a query.
//
//   S = q k^T / sqrt(D)        P = softmax(S) over the keys        out = P v
//
//   q, k, v, out [B, H, T, D]      S, P [B, H, Tq, Tk]      (Vaswani et al. 2017, section 3.2.1)

#include <cmath>
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [attention]
/// True above the diagonal: keys that come after the query.
Tensor future(std::int64_t T) { return triu(ones({T, T}), 1) == 1.0; }

Tensor weights(const Tensor& q, const Tensor& k, std::int64_t axis = -1) {
  const double D = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(D);
  return softmax(masked_fill(scores, future(q.size(-2)), -INFINITY), axis);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t axis = -1) {
  return matmul(weights(q, k, axis), v);
}
// [/attention]

void print(const char* what, const Tensor& x) {
  std::printf("  %-27s", what);
  for (const double value : x.to_vector<double>()) std::printf(" %7.4f", value);
  std::printf("\n");
}

void against_the_library(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::cout << "The weights P of head 0, a row for each query, a column for each key:\n"
            << weights(q, k)[0][0] << "\n\n";
  const Tensor library = scaled_dot_product_attention(q, k, v, {.causal = true});
  std::printf("By hand and by scaled_dot_product_attention: %s\n",
              ((attention(q, k, v) - library).abs() < 1e-12).all() ? "equal" : "different");
}

void which_axis(const Tensor& q, const Tensor& k) {
  const Tensor over_keys = weights(q, k, -1)[0][0], over_queries = weights(q, k, -2)[0][0];
  const Tensor v = ones({4, 1});  // every position says 1
  std::printf("\nSoftmax over which axis? Let every value be 1: an average of ones must be 1.\n");
  print("over the keys, axis -1:", matmul(over_keys, v));
  print("over the queries, axis -2:", matmul(over_queries, v));
}

// [causality]
/// How much the output at each position changes when the last token does.
Tensor influence_of_last(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t axis) {
  const std::int64_t last = q.size(-2) - 1;
  const Tensor q2 = q.clone(), k2 = k.clone(), v2 = v.clone();
  for (const Tensor& x : {q2, k2, v2}) x.select(-2, last) = 3.0;
  return (attention(q2, k2, v2, axis) - attention(q, k, v, axis)).abs().max({0, 1, 3});
}
// [/causality]

void causality(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::printf("\nNo position may see a later one. Change the last token; the outputs move by\n");
  const Tensor keys = influence_of_last(q, k, v, -1), queries = influence_of_last(q, k, v, -2);
  print("softmax over the keys:", keys);
  print("softmax over the queries:", queries);
  std::printf("Over the keys, the first three %s.\n",
              (keys.slice(0, 0, 3) == 0.0).all() ? "do not move by a single bit" : "move");
}

// [guesser]
/// A small Transformer that guesses a coin's next toss from those before it, in games of 9 tosses.
struct Guesser : nn::Module {
  nn::Embedding tosses = add("tosses", nn::Embedding(2, 16));
  nn::LearnedPositions positions = add("positions", nn::LearnedPositions(8, 16));
  nn::Linear qkv = add("qkv", nn::Linear(16, 48)), head = add("head", nn::Linear(16, 2));
  nn::FFN ffn = add("ffn", nn::FFN({.d_model = 16}));

  /// Mean loss at tosses begin + 1 .. end when the model is given tosses 0 .. end - 1.
  Tensor loss(const Tensor& games, std::int64_t begin, std::int64_t end, std::int64_t axis) const {
    const Tensor x = tosses(games.slice(1, 0, end)) + positions(end);
    const std::vector<Tensor> p = chunk(qkv(x), 3, -1);
    const Tensor h = x + attention(p[0], p[1], p[2], axis);
    return cross_entropy(head(h + ffn(h)).slice(1, begin), games.slice(1, begin + 1, end + 1));
  }
};
// [/guesser]

void train_guesser(std::int64_t axis, std::uint64_t seed) {
  manual_seed(seed);
  const Guesser model;
  optim::Adam opt(model.parameters(), {.lr = 0.01});
  for (int step = 0; step < 300; ++step) {
    const Tensor loss = model.loss(randint(0, 2, {64, 9}), 0, 8, axis);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  const NoGrad guard;
  const Tensor fresh = randint(0, 2, {2000, 9});
  double apart = 0;  // each toss guessed before the next one has fallen
  for (int t = 0; t < 8; ++t) apart += model.loss(fresh, t, t + 1, axis).item() / 8;
  std::printf("   %6.3f %6.3f", model.loss(fresh, 0, 8, axis).item(), apart);
}

void leak() {
  std::printf(
      "\nGuessing coin tosses: no model that is not shown the next one can expect less than ln 2 = 0.693.\n"
      "The loss on new games, given whole as in training and toss by toss, for three seeds:\n\n"
      "                               whole  apart    whole  apart    whole  apart\n");
  for (const std::int64_t axis : {-1, -2}) {
    std::printf("  softmax over the %-8s", axis == -1 ? "keys" : "queries");
    for (const std::uint64_t seed : {0U, 1U, 2U}) train_guesser(axis, seed);
    std::printf("\n");
  }
}

void why_the_root() {
  std::printf(
      "\nWhy sqrt(D)? 16 keys, 400 queries: how far scores spread (root mean square), the largest weight\n"
      "(mean), and |dq|, the gradient that comes back to a query (median and mean):\n\n"
      "    D   scores          spread   largest    median      mean\n");
  for (const std::int64_t D : {4, 64, 1024})
    for (const bool root : {false, true}) {
      const Tensor q = randn({400, D}).requires_grad_(), k = randn({16, D});
      const Tensor scores = matmul(q, k.t()) / (root ? std::sqrt(static_cast<double>(D)) : 1.0);
      const Tensor P = softmax(scores, -1);
      (P * randn(P.shape())).sum().backward();  // a loss that likes some weights and dislikes others
      const Tensor dq = sort(q.grad().square().sum(-1).sqrt()).first;
      std::printf("%5d   %-15s %6.1f %9.2f %9.4f %9.2f\n", static_cast<int>(D),
                  root ? "q k / sqrt(D)" : "q k", scores.square().mean().sqrt().item(),
                  P.max(-1).mean().item(), dq[200].item(), dq.mean().item());
    }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Shape shape = {1, 2, 4, 8};  // B, H, T, D
  const Tensor q = randn(shape), k = randn(shape), v = randn(shape);
  against_the_library(q, k, v);
  which_axis(q, k);
  causality(q, k, v);
  leak();
  manual_seed(0);
  why_the_root();
}
