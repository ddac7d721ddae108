// Pre-LN and Post-LN blocks: the same parts, the same weights, the norms in different places.
//
//   Post-LN   h = LN(x + Attn(x))      y = LN(h + FFN(h))      (Vaswani et al. 2017)
//   Pre-LN    h = x + Attn(LN(x))      y = h + FFN(LN(h))      (GPT-2; Xiong et al. 2020)
// The output of a Pre-LN stack is a sum nobody has normalised, so it ends with a norm of its own.

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr std::int64_t C = 64;
const nn::BlockOptions kOptions = {.d_model = C, .heads = 4, .d_ff = C};

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

double distance(const Tensor& a, const Tensor& b) { return ((a - b).norm() / b.norm()).item(); }
const char* verdict(double distance) { return distance < 1e-12 ? "equal" : "different"; }

void one_set_of_weights() {
  // [share]
  const nn::PreLNBlock pre(kOptions);
  const nn::PostLNBlock post(kOptions);
  post.copy_parameters_from(pre);  // the keys are the same
  // [/share]
  std::printf("%s\n", nn::summary(pre).c_str());
  const Tensor x = randn({1, 16, C}), y = pre(x), z = post(x);
  std::printf("PreLNBlock  and x + Attn(LN(x)), ...:  %s\n", verdict(distance(pre_ln(pre, x), y)));
  std::printf("PostLNBlock and LN(x + Attn(x)), ...:  %s\n", verdict(distance(post_ln(post, x), z)));
  std::printf("PreLNBlock  and PostLNBlock:           %.0f%% apart\n", 100 * distance(z, y));
}

/// Matrices N(0, std^2), biases 0, queries and keys 0 (each position averages all). With 1/sqrt(d) that is
/// how Xiong et al. start.
nn::PreLNBlock random_block(double std = 1 / std::sqrt(double(C))) {
  const nn::PreLNBlock block(kOptions);
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm")) nn::init::normal_(w, 0, w.dim() == 2 ? std : 0);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

/// What f gives for ten seeds, a row each.
template <class F>
Tensor ten_seeds(const F& f) {
  std::vector<Tensor> rows;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    manual_seed(seed);
    rows.push_back(f());
  }
  return stack(rows);
}

// [depth]
/// After each of 32 blocks: |x|^2 / d of Post-LN, of Pre-LN, and by how much of its length Pre-LN's x
/// changed.
Tensor streams() {
  const NoGrad guard;
  const auto size = [](const Tensor& x) { return x.square().mean(); };  // |x|^2 / d
  Tensor pre = randn({1, 16, C}), post = pre;
  std::vector<Tensor> rows;
  for (int l = 1; l <= 32; ++l) {
    const nn::PreLNBlock block = random_block();
    const Tensor before = pre;
    pre = pre_ln(block, pre);
    post = post_ln(block, post);
    rows.push_back(stack({size(post), size(pre), (size(pre - before) / size(before)).sqrt()}));
  }
  return stack(rows);
}
// [/depth]

void depth() {
  std::printf(
      "\nMean of |x|^2 / d after l random blocks, what Lemma 2 of Xiong et al. allows Pre-LN, and by how "
      "much\n"
      "of its length block l changes Pre-LN's x:\n\n"
      "   l   Post-LN   Pre-LN     Lemma 2      change\n");
  const Tensor mean = ten_seeds(streams).mean(0);
  for (int l = 1; l <= 32; l *= 2)
    std::printf("%4d %8.2f %9.1f %8.1f ..%5.1f %10.0f%%\n", l, mean[l - 1][0].item(), mean[l - 1][1].item(),
                1 + 0.5 * l, 1 + 1.5 * l, 100 * mean[l - 1][2].item());
  std::printf(
      "Claim: Pre-LN's variance grows exponentially. Twice the depth gives about twice the variance.\n");
}

// [gradients]
/// |dL/dW2| of the first and the last of L Pre-LN blocks, W2 being the second matrix of the FFN.
Tensor gradients(std::size_t L, bool final_norm) {
  std::vector<nn::PreLNBlock> blocks;
  Tensor x = randn({1, 16, C});
  for (std::size_t l = 0; l < L; ++l) {
    blocks.push_back(random_block());
    x = blocks[l](x);
  }
  if (final_norm) x = layer_norm(x);
  const Tensor logits = linear(x.select(1, 0), randn({16, C}) / std::sqrt(double(C)));
  cross_entropy(logits, randint(0, 16, {1})).backward();  // the loss at one position
  const auto dW2 = [](const nn::PreLNBlock& block) { return block.ffn.linear2.weight.grad(); };
  return stack({dW2(blocks.front()), dW2(blocks.back())}).square().sum({1, 2}).sqrt();
}
// [/gradients]

void final_norm() {
  std::printf(
      "\nMean of |dL/dW2| in the first and the last of L Pre-LN blocks:\n\n"
      "      with final norm   without it\n"
      "   L    first    last   first    last\n");
  for (const std::size_t L : {2U, 8U, 32U}) {
    const Tensor with = ten_seeds([&] { return gradients(L, true); }).mean(0);
    const Tensor without = ten_seeds([&] { return gradients(L, false); }).mean(0);
    std::printf("%4d %8.1f %7.1f %7.1f %7.1f\n", static_cast<int>(L), with[0].item(), with[1].item(),
                without[0].item(), without[1].item());
  }
}

// [product]
template <class F>
Tensor jacobian(const F& f, const Tensor& x) {
  const Tensor copies = x.expand({C, 1, C}).clone().requires_grad_();  // one for each output
  f(copies).backward(eye(C).unsqueeze(1));
  return copies.grad().squeeze(1);
}

/// How far the product and the sum are from dx_L/dx_0, for L blocks and one token.
Tensor product_and_sum(int L, double std) {
  const Tensor start = randn({1, 1, C});
  Tensor x = start, product = eye(C), sum = eye(C);
  nn::Sequential blocks;
  for (int l = 0; l < L; ++l) {
    const nn::PreLNBlock block = random_block(std);
    const Tensor one = jacobian(block, x);  // I + J_l
    product = matmul(one, product);
    sum = sum + (one - eye(C));
    x = block(x).detach();
    blocks.append(block);
  }
  const Tensor whole = jacobian(blocks, start);
  return tensor({distance(product, whole), distance(sum, whole)});
}
// [/product]

void product_or_sum() {
  std::printf(
      "\nClaim: Pre-LN turns the product of Jacobians into a sum. How far are they from dx_L/dx_0?\n\n"
      "weights         L   (I + J_L) ... (I + J_1)   I + J_1 + ... + J_L\n");
  for (const double std : {0.125, 0.07, 0.02})
    for (const int L : {4, 16}) {
      const Tensor far = ten_seeds([&] { return product_and_sum(L, std); });
      const Tensor least = far.min(0), most = far.max(0);
      std::printf("N(0, %.3f^2) %3d   %-23s   %.1f%% to %.1f%%\n", std, L, verdict(most[0].item()),
                  100 * least[1].item(), 100 * most[1].item());
    }
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  one_set_of_weights();
  depth();
  final_norm();
  product_or_sum();
}
