// Queries of a decoder, keys and values of an encoder's output; a model that writes words backwards.
// Its chapter: docs/course/20_cross_attention/README.md
#include <cmath>
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"
using namespace gradus;
namespace {
constexpr std::int64_t C = 32, H = 2, kPad = 0, kStart = 1, kEnd = 2;  // letters are 3 .. 9
const nn::BlockOptions kBlock{.d_model = C, .heads = H};
// [cross]
Tensor heads(const Tensor& x) { return x.reshape({x.size(0), x.size(1), H, -1}).transpose(1, 2); }

/// Queries from x [B, T, C], keys and values from memory [B, S, C]; hidden broadcasts to [B, H, T, S].
Tensor attend(const nn::MultiheadAttention& m, const Tensor& x, const Tensor& memory, const Tensor& hidden) {
  const std::vector<Tensor> w = chunk(m.in_proj_weight, 3), b = chunk(m.in_proj_bias, 3);
  const Tensor q = heads(linear(x, w[0], b[0])), k = heads(linear(memory, w[1], b[1]));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(double(q.size(-1)));  // [B, H, T, S]
  const Tensor P = softmax(masked_fill(scores, hidden, -INFINITY), -1);
  const Tensor v = heads(linear(memory, w[2], b[2]));
  return m.out_proj(matmul(P, v).transpose(1, 2).reshape(x.shape()));
}
Tensor block(const nn::DecoderBlockParts& b, Tensor x, const Tensor& memory, const Tensor& hidden, bool pre) {
  const auto join = [&](const auto& f, const nn::Norm& LN) { x = pre ? x + f(LN(x)) : LN(x + f(x)); };
  const Tensor future = triu(ones({x.size(1), x.size(1)}), 1) == 1.0;  // [T, T]
  join([&](const Tensor& z) { return attend(b.self_attn, z, z, future); }, b.norm1);
  join([&](const Tensor& z) { return attend(b.multihead_attn, z, memory, hidden); }, b.norm2);
  join(b.ffn, b.norm3);
  return x;
}
// [/cross]
void blocks() {
  const Tensor x = randn({2, 5, C}), memory = layer_norm(randn({2, 7, C})), weights = randn(x.shape());
  const Tensor padding = arange(7) >= tensor({{7}, {4}}), hidden = padding.reshape({2, 1, 1, 7});
  const nn::DecoderMasks masks{.memory = {.key_padding_mask = padding}};
  const nn::PreLNDecoderBlock pre(kBlock);
  const nn::PostLNDecoderBlock post(kBlock);
  const bool same = allclose(block(pre, x, memory, hidden, true), pre(x, memory, masks)) &&
                    allclose(block(post, x, memory, hidden, false), post(x, memory, masks));
  std::printf("Pre-LN and Post-LN, by hand and by the library: %s\n", same ? "equal" : "different");
  // [gradient]
  const nn::TransformerDecoder decoder({.layers = 6, .block = kBlock});
  const auto dm = [&](int first, int last) {  // the gradient of memory through these blocks
    const Tensor m = memory.clone().requires_grad_();
    Tensor h = x;
    for (int i = 0; i < 6; ++i) h = decoder.layers[i](h, first <= i && i <= last ? m : memory, masks);
    return grad((layer_norm(h) * weights).sum(), {m})[0];
  };
  // [/gradient]
  Tensor sum = zeros_like(memory), all = dm(0, 5);
  std::printf("\n|dm|, the gradient of memory, through each of six blocks alone:");
  for (int i = 0; i < 6; ++i) std::printf(" %.2f", dm(i, i).norm().item()), sum = sum + dm(i, i);
  std::printf("\n  all six: %.2f; sum: %s\n", all.norm().item(), allclose(sum, all) ? "equal" : "different");
}
std::pair<Tensor, Tensor> words(std::int64_t B) {  // such as cab---- and, to be written, <bac.----
  const Tensor n = randint(3, 8, {B, 1}), t = arange(9);
  const Tensor source = masked_fill(randint(3, 10, {B, 9}), t >= n, kPad);
  const Tensor back = where(t == n + 1, kEnd, gather(source, 1, where(t <= n, n - t, t)));
  return {source.slice(1, 0, 7), where(t == 0, kStart, back)};
}
struct Reverser : nn::Module {
  bool hide = true, causal = false, shift = true;
  nn::Embedding tokens = add("tokens", nn::Embedding(10, C));
  nn::LearnedPositions positions = add("positions", nn::LearnedPositions(12, C));
  nn::TransformerEncoder encoder = add("encoder", nn::TransformerEncoder({.layers = 1, .block = kBlock}));
  nn::TransformerDecoder decoder = add("decoder", nn::TransformerDecoder({.layers = 1, .block = kBlock}));
  nn::Linear head = add("head", nn::Linear(C, 10));
  // [model]
  Tensor embed(const Tensor& ids) const { return tokens(ids) + positions(ids.size(1)); }
  Tensor operator()(const Tensor& source, const Tensor& input) const {
    const Tensor padding = source == kPad, memory = encoder(embed(source), {.key_padding_mask = padding});
    nn::AttentionMasks masks{.key_padding_mask = hide ? padding : Tensor()};
    if (causal) masks.visible = tril(ones({input.size(1), source.size(1)})) == 1.0;  // a mistake
    return head(decoder(embed(input), memory, {.memory = masks}));
  }
  Tensor loss(const Tensor& source, const Tensor& text) const {  // teacher forcing: all positions at once
    const Tensor target = text.slice(1, 1), logits = (*this)(source, shift ? text.slice(1, 0, -1) : target);
    return cross_entropy(logits, masked_fill(target, target == kPad, -100));
  }
  Tensor write(const Tensor& source) const {  // each letter is read back before the next is chosen
    Tensor text = full({source.size(0), 1}, kStart, i64);
    for (int t = 0; t < 8; ++t) text = cat({text, argmax((*this)(source, text).select(1, -1), -1, true)}, 1);
    return text;
  }
  // [/model]
};
Reverser train(const char* name, bool hide, bool causal, bool shift) {
  manual_seed(0);
  Reverser model;
  model.hide = hide, model.causal = causal, model.shift = shift;
  optim::Adam opt(model.parameters(), {.lr = 0.005, .eps = 1e-3});  // eps: no steps on rounding noise
  for (int step = 0; step < 400; ++step) {
    opt.zero_grad();
    const auto [source, text] = words(32);
    model.loss(source, text).backward();
    opt.step();
  }
  const NoGrad guard;
  const auto [source, y] = words(1000);
  std::printf("\n  %-34s %6.2f", name, model.loss(source, y).item());
  for (const Tensor& s : {source, cat({source, zeros({1000, 5}, i64)}, 1)})
    std::printf("%9.0f%%", 100 * all((model.write(s) == y) | (y == kPad), -1).to(f64).mean().item());
  return model;
}
}  // namespace
int main() {
  const DefaultDType guard(f64);
  manual_seed(0), blocks();
  std::printf("\nAfter 400 steps, on 1000 new words:   loss   written     wider");
  const Reverser model = train("right", true, false, true);
  train("a causal mask over memory", true, true, true);
  train("padding of memory not hidden", false, false, true);
  train("the decoder's input not shifted", true, false, false);
  const Tensor badge = tensor({{4, 3, 6, 9, 7, 0, 0}}), text = model.write(badge);
  nn::AttentionMaps maps;
  model(badge, text.slice(1, 0, -1));
  std::cout << "\n\nIts cross-attention as it writes badge backwards; columns: b a d g e and padding:\n"
            << round(100 * maps.at("decoder.layers.0.multihead_attn").mean(1)[0]) / 100 << '\n';
}
