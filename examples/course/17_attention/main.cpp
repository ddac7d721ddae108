// An average of the values, weighted by how well keys fit a query; a mask that leaks.
// Its chapter: docs/course/17_attention/README.md
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

// [head]
/// Computes queries, keys and values from tokens, with three matrices [C, D].
struct Head {
  Tensor wq, wk, wv;
  Tensor operator()(const Tensor& x, std::int64_t axis = -1) const {
    return attention(matmul(x, wq), matmul(x, wk), matmul(x, wv), axis);
  }
};
// [/head]

void one_head(const Head& head, const Tensor& x) {
  const Tensor q = matmul(x, head.wq), k = matmul(x, head.wk), v = matmul(x, head.wv), one = ones({4});
  std::cout << "The weights P, a row for each query, a column for each key:\n" << weights(q, k)[0] << "\n\n";
  const Tensor library =
      scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), {.causal = true});
  std::printf("By hand and by scaled_dot_product_attention: %s\n",
              allclose(head(x), library.squeeze(1), 0, 1e-12) ? "equal" : "different");
  std::cout << "\nSoftmax over which axis? Let every value be 1: an average of ones must be 1."
            << "\n  over the keys, axis -1:    " << round(1e4 * matmul(weights(q, k, -1)[0], one)) / 1e4
            << "\n  over the queries, axis -2: " << matmul(weights(q, k, -2)[0], one) << '\n';
}

// [causality]
/// How much the output at each position changes when the last token changes.
Tensor influence_of_last(const Head& head, const Tensor& x, std::int64_t axis) {
  const Tensor other = x.clone();
  other.select(1, x.size(1) - 1) = 3.0;
  return (head(other, axis) - head(x, axis)).abs().max({0, 2});
}
// [/causality]

void causality(const Head& head, const Tensor& x) {
  std::cout << "\nNo position may see a later one. Change the last token; the outputs move by"
            << "\n  softmax over the keys:     " << influence_of_last(head, x, -1)
            << "\n  softmax over the queries:  " << influence_of_last(head, x, -2) << '\n';
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
    opt.zero_grad();
    model.loss(randint(0, 2, {64, 9}), 0, 8, axis).backward();
    opt.step();
  }
  const NoGrad guard;
  const Tensor fresh = randint(0, 2, {2000, 9});
  double apart = 0;  // each toss is guessed before the next one is shown
  for (int t = 0; t < 8; ++t) apart += model.loss(fresh, t, t + 1, axis).item() / 8;
  std::printf("   %6.3f %6.3f", model.loss(fresh, 0, 8, axis).item(), apart);
}

void leak() {
  std::printf(
      "\nGuessing coin tosses: without seeing the next one, no model can expect less than ln 2 = 0.693.\n"
      "The loss on new games, given whole as in training and toss by toss, for three seeds:\n\n"
      "                               whole  apart    whole  apart    whole  apart\n");
  for (const std::int64_t axis : {-1, -2}) {
    std::printf("  softmax over the %-8s", axis == -1 ? "keys" : "queries");
    for (const std::uint64_t seed : {0U, 1U, 2U}) train_guesser(axis, seed);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Head head{randn({8, 8}) / 3, randn({8, 8}) / 3, randn({8, 8}) / 3};
  const Tensor x = randn({1, 4, 8});  // B, T, C
  one_head(head, x);
  causality(head, x);
  leak();
}
