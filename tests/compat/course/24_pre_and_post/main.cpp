// How each placement changes the stream on its way up and the gradient on its way down.
// Its chapter: docs/course/24_pre_and_post/README.md

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr std::int64_t C = 64;

// [equations]
Tensor post_ln(const nn::BlockParts& b, const Tensor& x) {
  const Tensor h = b.norm1(x + b.self_attn(x));
  return b.norm2(h + b.ffn(h));
}

Tensor pre_ln(const nn::BlockParts& b, const Tensor& x) {
  const Tensor h = x + b.self_attn(b.norm1(x));
  return h + b.ffn(b.norm2(h));
}
// [/equations]

/// The initial weights of Xiong et al.: N(0, 1/d), biases 0, queries and keys 0 (attention averages all).
nn::PreLNBlock random_block() {
  const nn::PreLNBlock block({.d_model = C, .heads = 4, .d_ff = C});
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm")) nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

Tensor ten_seeds(const auto& f) {
  std::vector<Tensor> rows;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    manual_seed(seed);
    rows.push_back(f());
  }
  return stack(rows);
}

// [depth]
Tensor streams() {
  const NoGrad guard;
  const auto size = [](const Tensor& x) { return x.square().mean(); };  // |x|^2 / d
  const auto cosine = [](const Tensor& a, const Tensor& b) { return (a * b).sum() / (a.norm() * b.norm()); };
  const Tensor input = randn({1, 16, C});
  Tensor pre = input, post = input;
  std::vector<Tensor> rows;
  for (int l = 1; l <= 32; ++l) {
    const nn::PreLNBlock block = random_block();
    const Tensor before = pre;
    pre = pre_ln(block, pre);
    post = post_ln(block, post);
    rows.push_back(stack({size(post), size(pre), (size(pre - before) / size(before)).sqrt(),
                          cosine(post, input), cosine(pre, input)}));
  }
  return stack(rows);
}
// [/depth]

void up() {
  std::printf(
      "The way up, means of ten seeds. |x|^2 / d after l blocks, and x against the stack's input:\n\n"
      "   l   Post-LN   Pre-LN     Lemma 2   its change   cosine: Post-LN   Pre-LN\n");
  const Tensor mean = ten_seeds(streams).mean(0);
  const auto at = [&](int l, int k) { return mean[l - 1][k].item(); };
  for (int l = 1; l <= 32; l *= 2)
    std::printf("%4d %8.2f %9.1f %8.1f ..%5.1f %11.0f%% %17.3f %8.3f\n", l, at(l, 0), at(l, 1), 1 + 0.5 * l,
                1 + 1.5 * l, 100 * at(l, 2), at(l, 3), at(l, 4));
}

// [gradients]
/// log of |dL/dW2| in the first and the last of L blocks, W2 being the second matrix of the FFN.
Tensor gradients(const auto& block_of, std::size_t L, bool final_norm) {
  std::vector<nn::PreLNBlock> blocks;
  Tensor x = randn({1, 16, C});
  for (std::size_t l = 0; l < L; ++l) {
    blocks.push_back(random_block());
    x = block_of(blocks[l], x);
  }
  if (final_norm) x = layer_norm(x);
  const Tensor logits = linear(x.select(1, 0), randn({16, C}) / std::sqrt(double(C)));
  cross_entropy(logits, randint(0, 16, {1})).backward();  // the loss at one position
  const auto dW2 = [](const nn::PreLNBlock& block) { return block.ffn.linear2.weight.grad().norm().log(); };
  return stack({dW2(blocks.front()), dW2(blocks.back())});
}
// [/gradients]

void down() {
  std::printf(
      "\nThe way down, geometric means of ten seeds. |dL/dW2| in the first and the last of L blocks:\n\n"
      "      Post-LN         Pre-LN          Pre-LN, no final norm\n"
      "   L    first    last   first    last   first    last\n");
  Tensor post, pre, open;
  for (const std::size_t L : {2U, 8U, 32U}) {
    post = ten_seeds([&] { return gradients(post_ln, L, false); });
    pre = ten_seeds([&] { return gradients(pre_ln, L, true); });
    open = ten_seeds([&] { return gradients(pre_ln, L, false); });
    const Tensor row = cat({post.mean(0), pre.mean(0), open.mean(0)}, 0).exp();
    std::printf("%4d %8.1f %7.1f %7.1f %7.1f %7.1f %7.1f\n", static_cast<int>(L), row[0].item(),
                row[1].item(), row[2].item(), row[3].item(), row[4].item(), row[5].item());
  }
  const auto share = [](const Tensor& logs) { return (logs.select(1, 0) - logs.select(1, 1)).exp(); };
  std::printf(
      "First over last of 32 blocks, least to largest seed: Post-LN %.1f to %.1f, Pre-LN %.1f to %.1f\n",
      share(post).min().item(), share(post).max().item(), share(pre).min().item(), share(pre).max().item());
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  up();
  down();
}
