// Tokens become vectors, and positions must be added.
// Its chapter: docs/course/15_embeddings/README.md
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "gradus/gradus.h"

using namespace gradus;

namespace {
const char* verdict(bool same) { return same ? "equal" : "different"; }

void a_row_of_a_table() {
  // [embedding]
  const Tensor table = randn({5, 3}).requires_grad_();  // V = 5 tokens, C = 3 channels
  const Tensor ids = tensor({1, 4, 1});
  const Tensor x = embedding(ids, table);                   // rows 1, 4 and 1
  const Tensor y = matmul(one_hot(ids, 5).to(f64), table);  // the same as a product
  x.sum().backward();
  // [/embedding]
  std::printf("embedding(ids) and one_hot(ids) times the table: %s\n", verdict(equal(x, y)));
  std::cout << "Gradient of the table, ids 1, 4, 1:\n" << table.grad() << '\n';
}

// [bag]
/// A bag of embeddings: the mean of the vectors of a row. x is [.., T, C].
Tensor bag(const Tensor& x) { return x.mean(-2); }
// [/bag]

void shuffle() {
  const Tensor x = randn({6, 16}), order = tensor({3, 0, 5, 1, 4, 2}), p = nn::SinusoidalPositions(6, 16)(6);
  const Tensor moved = x[order];
  const auto row = [](const char* what, const Tensor& a, const Tensor& b) {
    std::printf("  %-32s %s\n", what, verdict(allclose(a, b, 0, 1e-12)));
  };
  std::printf("\nThe mean over a row of tokens, before and after a shuffle of the tokens:\n");
  row("of the vectors", bag(moved), bag(x));
  row("of vector + position", bag(moved + p), bag(x + p));
  row("of tanh(vector + position)", bag(tanh(moved + p)), bag(tanh(x + p)));
}

/// Position t's vector times that of t + distance, for the encodings that are not learned.
void distances() {
  const Tensor p = nn::SinusoidalPositions(64, 32)(64), q = randn({32}), k = randn({32});
  const Tensor qs = rope(q.expand({64, 32})), ks = rope(k.expand({64, 32}));
  std::printf(
      "\nA product of two positions, t and t + distance:\n  distance              0       1       5      "
      "20\n");
  for (const int t : {0, 30}) {
    std::printf("  sines,  t = %2d  ", t);
    for (const int d : {0, 1, 5, 20}) std::printf("%8.3f", matmul(p[t], p[t + d]).item());
    std::printf("\n  rotary, t = %2d  ", t);
    for (const int d : {0, 1, 5, 20}) std::printf("%8.3f", matmul(ks[t], qs[t + d]).item());
    std::printf("\n");
  }
}

// [task]
/// Rows of 8 different tokens in random order. The task: which of the 8 comes first?
Tensor rows(std::int64_t B) { return sort(rand({B, 8}), -1).second; }
Tensor first(const Tensor& ids) { return ids.select(1, 0); }

struct Reader : nn::Module {
  explicit Reader(std::string positions) : kind(std::move(positions)) {}
  std::string kind;  // of positions
  nn::Embedding tokens = add("tokens", nn::Embedding(8, 32));
  nn::LearnedPositions learned = add("learned", nn::LearnedPositions(8, 32));
  nn::SinusoidalPositions waves = add("waves", nn::SinusoidalPositions(8, 32));
  nn::Linear fc = add("fc", nn::Linear(32, 32)), out = add("out", nn::Linear(32, 8));

  Tensor operator()(const Tensor& ids) const {
    Tensor x = tokens(ids);
    if (kind == "sinusoidal") x = x + waves(8);
    if (kind.starts_with("learned")) x = x + learned(8);
    return out(bag(kind == "learned, no tanh" ? fc(x) : tanh(fc(x))));
  }
};
// [/task]

void training() {
  std::printf("\nWhich token comes first? Loss after 500 steps, three seeds (ln 8 = %.3f):\n", std::log(8.0));
  for (const char* kind : {"none", "learned, no tanh", "learned", "sinusoidal"}) {
    std::printf("  %-18s", kind);
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      manual_seed(seed);
      const Reader model(kind);
      optim::SGD opt(model.parameters(), {.lr = 0.1, .momentum = 0.9});
      for (int step = 0; step < 500; ++step) {
        const Tensor ids = rows(64);
        opt.zero_grad();
        cross_entropy(model(ids), first(ids)).backward();
        opt.step();
      }
      const Tensor fresh = rows(1000);
      std::printf("  %5.2f", cross_entropy(model(fresh), first(fresh)).item());
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  a_row_of_a_table();
  shuffle();
  distances();
  training();
}
