// Fifteen placements, Pre-LN and Post-LN among them, and how each compares with the limits of these two.
// Its chapter: docs/course/33_hybrids/README.md

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr double kRate = 1e-6;  // so small that the change is proportional to it

double rms(const Tensor& x) { return x.square().mean().sqrt().item(); }

// [mix]
/// Mix-LN: Post-LN in the first quarter of the blocks, Pre-LN after it, and a final norm.
nn::Placement mix_by_hand() {
  nn::Placement mix{.name = "Mix-LN by hand", .final_norm = true};
  mix.block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
    if (o.layer < o.layers / 4) return nn::PostLNBlock(o);
    return nn::PreLNBlock(o);
  };
  return mix;
}
// [/mix]

/// For exercise 3: Pre-LN in the first quarter, Post-LN after it.
nn::Placement mix_turned() {
  nn::Placement mix{.name = "Mix-LN turned"};
  mix.block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
    if (o.layer < o.layers / 4) return nn::PreLNBlock(o);
    return nn::PostLNBlock(o);
  };
  return mix;
}

// [keel]
/// Keel: LN(a x + f(LN(x))), a the number of branches.
struct KeelByHand : nn::Module {
  explicit KeelByHand(const nn::BlockOptions& o)
      : in(add("in", o.new_norm())), out(add("out", o.new_norm())), a(2 * double(o.layers)) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return out(a * x + f(in(x))); }
  nn::Norm in, out;
  double a;
};
// [/keel]

/// Matrices N(0, 1/fan_in), the same for all; then the placement's own initialization (chapter 28).
nn::GPT model(const nn::Placement& placement, std::int64_t layers, const Tensor& ids, const Tensor& targets) {
  const nn::BlockOptions block = {.d_model = 32, .heads = 4, .layers = layers};
  nn::GPT gpt({.vocab = 8, .context = 12, .layers = layers, .placement = placement, .block = block});
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  if (placement.init) placement.init(gpt.transformer, block);
  nn::prepare_(gpt, [&] { gpt.loss(ids, targets); });
  return gpt;
}

// [limits]
/// log of how far the first update moves the logits, and of the share of the logits that the last block
/// changes.
Tensor limits(const nn::Placement& placement, std::int64_t layers, std::uint64_t seed) {
  manual_seed(seed);
  const Tensor ids = randint(0, 8, {4, 12}), targets = randint(0, 8, {4, 12});
  nn::GPT gpt = model(placement, layers, ids, targets);
  const auto logits = [&] { return gpt(ids).detach(); };
  const Tensor before = logits();
  optim::Adam adam(gpt.parameters(), {.lr = kRate});
  gpt.loss(ids, targets).backward();
  adam.step();
  const double moved = rms(logits() - before) / kRate;
  gpt.transformer.layers.pop_back();  // the stack without its last block
  return tensor({moved, rms(logits() - before) / rms(before)}).log();
}
// [/limits]

Tensor five_seeds(const nn::Placement& placement, std::int64_t layers) {
  std::vector<Tensor> rows;
  for (std::uint64_t seed = 0; seed < 5; ++seed) rows.push_back(limits(placement, layers, seed));
  return stack(rows);
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  std::printf(
      "At the start, geometric means of 5 seeds:\n\n"
      "                update grows from 6      the last of 24 blocks\n"
      "                to 24 blocks, times      changes the logits by\n");
  std::vector<nn::Placement> placements = nn::placements();
  placements.push_back(mix_by_hand());
  placements.push_back(nn::placement<KeelByHand>({.name = "Keel by hand"}));
  placements.push_back(mix_turned());
  for (const nn::Placement& placement : placements) {
    const Tensor few = five_seeds(placement, 6), many = five_seeds(placement, 24);
    const Tensor growth = (many - few).select(1, 0), last = many.select(1, 1);
    std::printf("%-14s %14.3g %23.0f%%\n", placement.name.c_str(), growth.mean().exp().item(),
                100 * last.mean().exp().item());
  }
}
