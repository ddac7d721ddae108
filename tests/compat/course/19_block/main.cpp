// Attention mixes tokens, the FFN works on each separately; counting a block's parameters.
// Its chapter: docs/course/19_block/README.md
#include <cstdio>
#include <utility>

#include "gradus/gradus.h"
using namespace gradus;

namespace {
constexpr std::int64_t C = 64;
// [block]
Tensor ffn(const nn::BlockParts& b, const Tensor& x) {  // each token separately: C -> F -> C
  return b.ffn.linear2(relu(b.ffn.linear1(x)));
}

Tensor pre_ln(const nn::BlockParts& b, const Tensor& x) {
  const Tensor h = x + b.dropout1(b.self_attn(b.norm1(x)));
  return h + b.dropout2(ffn(b, b.norm2(h)));
}
// [/block]

const char* verdict(bool same) { return same ? "equal" : "different"; }

void by_hand() {
  const nn::PreLNBlock block({.d_model = C, .heads = 4});
  const Tensor x = randn({1, 16, C});
  std::printf("%s\nBy hand and by the library: %s\n", nn::summary(block).c_str(),
              verdict(allclose(pre_ln(block, x), block(x), 0, 1e-12)));
  const Tensor other = x.clone();
  other.select(1, 0) = 3.0;  // another first token
  const auto later = [&](auto f) {
    return verdict(allclose(f(x).slice(1, 1), f(other).slice(1, 1), 0, 1e-12));
  };
  std::printf("Another first token; the output at the others: ffn %s, attention %s\n", later(block.ffn),
              later([&](const Tensor& z) { return block.self_attn(z); }));
}

// [count]
/// Parameters of a block: attention 4 C C + 4 C, FFN 8 C C + 5 C, two norms 4 C.
std::int64_t block_count(std::int64_t c) { return 12 * c * c + 13 * c; }

/// A GPT-2: tokens, positions, blocks, the final norm; the head is the token table again.
std::int64_t gpt2_count(std::int64_t layers, std::int64_t c) {
  return 50257 * c + 1024 * c + layers * block_count(c) + 2 * c;
}
// [/count]

void counts() {
  const nn::PreLNBlock block({.d_model = C, .heads = 4});
  std::printf("\n12 C C + 13 C for C = 64: %d, and the block's number: %s\n", int(block_count(C)),
              verdict(block_count(C) == block.num_parameters()));
  std::printf("GPT-2 in millions    all   blocks   tokens and positions\n");
  const std::pair<int, int> sizes[] = {{12, 768}, {24, 1024}, {36, 1280}, {48, 1600}};
  for (const auto& [layers, c] : sizes)
    std::printf("  %2d layers of %4d %6.0f %8.0f %8.0f\n", layers, c, double(gpt2_count(layers, c)) / 1e6,
                double(layers * block_count(c)) / 1e6, 51.281e-3 * c);
}

void dropouts() {
  std::printf("\nDropout of 100000 ones:   zeros    mean   mean square   in eval mode\n");
  for (const double p : {0.1, 0.5}) {
    nn::Dropout dropout(p);
    const Tensor y = dropout(ones({100000}));
    const double zeros = 1 - y.sign().mean().item();
    dropout.eval();
    std::printf("  p = %.1f                %6.2f  %6.2f        %6.2f   %s\n", p, zeros, y.mean().item(),
                y.square().mean().item(), equal(dropout(ones({4})), ones({4})) ? "as it was" : "changed");
  }
}

// [task]
/// Digits 0 .. 6; the target at each is its sum with the digit before it, modulo 7.
struct Adder : nn::Module {
  Adder(bool attention, bool feed_forward) : attends(attention), computes(feed_forward) {}
  bool attends, computes;
  nn::Embedding digits = add("digits", nn::Embedding(7, 32));
  nn::LearnedPositions positions = add("positions", nn::LearnedPositions(8, 32));
  nn::PreLNBlock b = add("block", nn::PreLNBlock({.d_model = 32, .heads = 2, .causal = true}));
  nn::LayerNorm norm = add("norm", nn::LayerNorm(32));
  nn::Linear head = add("head", nn::Linear(32, 7));

  Tensor loss(const Tensor& ids) const {
    Tensor x = digits(ids) + positions(8);
    if (attends) x = x + b.self_attn(b.norm1(x));
    if (computes) x = x + b.ffn(b.norm2(x));
    return cross_entropy(head(norm(x)).slice(1, 1), (ids.slice(1, 1) + ids.slice(1, 0, 7)) % 7);
  }
};
// [/task]

void train(const char* name, bool attention, bool feed_forward) {
  std::printf("  %-16s", name);
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    manual_seed(seed);
    const Adder model(attention, feed_forward);
    optim::Adam opt(model.parameters(), {.lr = 0.003, .eps = 1e-6});
    for (int step = 0; step < 300; ++step) {
      opt.zero_grad();
      model.loss(randint(0, 7, {32, 8})).backward();
      opt.step();
    }
    std::printf("  %5.2f", model.loss(randint(0, 7, {1000, 8})).item());
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  by_hand();
  counts();
  dropouts();
  std::printf(
      "\nThis digit plus the one before, modulo 7: loss after 300 steps, three seeds (ln 7 = 1.95):\n");
  train("FFN alone", false, true);
  train("attention alone", true, false);
  train("both", true, true);
}
