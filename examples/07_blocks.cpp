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
constexpr nn::BlockOptions kOptions = {.d_model = C, .heads = 4, .d_ff = C};

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

/// As Xiong et al. start: matrices N(0, 1/d), biases 0, queries and keys 0 (each position averages all).
nn::PreLNBlock random_block() {
  const nn::PreLNBlock block(kOptions);
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm")) nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

void depth() {
  std::printf(
      "\nMean of |x|^2 / d after l random blocks, and what Lemma 2 of Xiong et al. allows Pre-LN:\n\n"
      "   l   Post-LN   Pre-LN     Lemma 2      Pre-LN after its final norm\n");
  // [depth]
  const NoGrad guard;
  const auto size = [](const Tensor& x) { return x.square().mean().item(); };  // |x|^2 / d
  Tensor pre = randn({1, 16, C}), post = pre;
  for (int l = 1; l <= 32; ++l) {
    const nn::PreLNBlock block = random_block();
    pre = pre_ln(block, pre);
    post = post_ln(block, post);
    if ((l & (l - 1)) != 0) continue;  // print l = 1, 2, 4, ...
    // [/depth]
    std::printf("%4d %8.2f %9.1f %8.1f ..%5.1f %12.2f\n", l, size(post), size(pre), 1 + 0.5 * l, 1 + 1.5 * l,
                size(layer_norm(pre)));
  }
  std::printf(
      "\nClaim: Pre-LN's variance grows exponentially. Twice the depth gives about twice the variance.\n"
      "Claim: Pre-LN needs no final norm. Without it, deeper models start with larger logits.\n");
}

// [product]
template <class F>
Tensor jacobian(const F& f, const Tensor& x) {
  std::vector<Tensor> rows;
  for (const Tensor& dy : split(eye(C), 1)) {
    Tensor leaf = x.clone().requires_grad_();
    f(leaf).backward(dy.view(x.shape()));
    rows.push_back(leaf.grad().flatten());
  }
  return stack(rows);
}

void product_or_sum() {
  const Tensor start = randn({1, 1, C});
  Tensor x = start, product = eye(C), sum = eye(C);
  nn::Sequential stack_of_blocks;
  for (int l = 0; l < 4; ++l) {
    const nn::PreLNBlock block = random_block();
    const Tensor one = jacobian(block, x);  // I + J_l
    product = matmul(one, product);
    sum = sum + (one - eye(C));
    x = block(x).detach();
    stack_of_blocks.append(block);
  }
  const Tensor whole = jacobian(stack_of_blocks, start);
  // [/product]
  std::printf("\nClaim: Pre-LN turns the product of Jacobians into a sum. For 4 blocks, dx_4/dx_0 and\n");
  std::printf("  (I + J_4) (I + J_3) (I + J_2) (I + J_1):  %s\n", verdict(distance(product, whole)));
  std::printf("  I + J_1 + J_2 + J_3 + J_4:                %.0f%% apart\n", 100 * distance(sum, whole));
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  one_set_of_weights();
  depth();
  product_or_sum();
}
