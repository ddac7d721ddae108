// A custom block: attention and FFN in parallel, after one norm (as in GPT-J).
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

struct ParallelBlock : nn::Module {
  explicit ParallelBlock(const nn::BlockOptions& o)
      : norm(add("norm", o.new_norm())),
        self_attn(add("self_attn", nn::MultiheadAttention(o.attention()))),
        ffn(add("ffn", nn::FFN(o.ffn()))) {}
  Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, nn::KeyValues* cache) const {
    const Tensor y = norm(x);
    return x + self_attn(y, masks, cache) + ffn(y);
  }
  nn::Norm norm;
  nn::MultiheadAttention self_attn;
  nn::FFN ffn;
};

int main() {
  manual_seed(0);
  nn::Placement side_by_side{.name = "parallel", .final_norm = true};
  side_by_side.block = [](const nn::BlockOptions& o) { return ParallelBlock(o); };
  const nn::BlockOptions block{.d_model = 32, .heads = 4};
  const nn::GPT gpt({.vocab = 8, .context = 16, .layers = 2, .placement = side_by_side, .block = block});
  optim::Adam opt(gpt.parameters(), {.lr = optim::warmup_linear(3e-3, 20)});
  for (int step = 0; step < 200; ++step) {                     // to learn: three random symbols, repeated
    const Tensor ids = randint(0, 8, {32, 3}).repeat({1, 5});  // [32, 15]
    opt.zero_grad();
    gpt.loss(ids.slice(1, 2, -1), ids.slice(1, 3)).backward();
    opt.step();
  }
  const Tensor written = gpt.generate(tensor({5, 2, 7}), 9, {.greedy = true});
  for (const int symbol : written.to_vector<int>()) std::printf("%d", symbol);
  std::printf("\n");
}
