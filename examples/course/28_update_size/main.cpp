// How far one update moves the output of a deep stack: Admin's and DeepNet's argument.
// Its chapter: docs/course/28_update_size/README.md

#include <cmath>
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr double kRate = 1e-6;  // so small that the change is proportional to it

/// For exercise 3: x + f(LN(x)) / sqrt(2 L).
struct Divided : nn::Module {
  explicit Divided(const nn::BlockOptions& o)
      : in(add("in", o.new_norm())), root(std::sqrt(2 * double(o.layers))) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + f(in(x)) / root; }
  nn::Norm in;
  double root;
};

/// For exercise 3: Pre-LN, but the matrices that end a branch start smaller by 1 / sqrt(2 L), as in GPT-2.
nn::Placement gpt2_weights() {
  nn::Placement small = nn::pre_ln();
  small.init = [](const nn::Module& stack, const nn::BlockOptions& o) {
    const NoGrad guard;
    for (const auto& [name, w] : stack.named_parameters())
      if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight"))
        w *= 1 / std::sqrt(2 * double(o.layers));
  };
  return small;
}

struct Batch {
  Tensor ids = randint(0, 8, {4, 12}), targets = randint(0, 8, {4, 12});
};

/// Matrices N(0, 1/fan_in), the same for all; then the placement's own initialization.
nn::GPT model(const nn::Placement& placement, std::int64_t layers, const Batch& batch) {
  const nn::BlockOptions block = {.d_model = 32, .heads = 4, .layers = layers};
  nn::GPT gpt({.vocab = 8, .context = 12, .layers = layers, .placement = placement, .block = block});
  for (const auto& [name, w] : gpt.named_parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  // [own]
  if (placement.init) placement.init(gpt.transformer, block);      // DeepNorm's weights
  nn::prepare_(gpt, [&] { gpt.loss(batch.ids, batch.targets); });  // Admin's shortcuts; others: nothing
  // [/own]
  return gpt;
}

double rms(const Tensor& x) { return x.square().mean().sqrt().item(); }

// [update]
/// log of the norm of the first gradient, and of how far the logits move in the first update of Adam.
Tensor first_update(const nn::Placement& p, std::int64_t layers, double rate = kRate, bool random = false) {
  const Batch batch;
  const nn::GPT gpt = model(p, layers, batch);
  const auto logits = [&] { return gpt(batch.ids).detach(); };
  const Tensor before = logits();
  optim::Adam adam(gpt.parameters(), {.lr = rate});
  gpt.loss(batch.ids, batch.targets).backward();
  const double gradient = optim::grad_norm(gpt.parameters());
  const NoGrad guard;
  if (!random) adam.step();
  for (const Tensor& w : gpt.parameters())
    if (random) w += rate * (1 - 2 * (rand(w.shape()) < 0.5).to(f64));  // exercise 5: -rate or rate
  return tensor({gradient, rms(logits() - before) / rate}).log();
}
// [/update]

constexpr std::int64_t kDepths[] = {6, 12, 24, 48};
/// first_update() of five seeds at all depths: [4, 5, 2].
Tensor all_depths(const nn::Placement& placement, bool random = false) {
  std::vector<Tensor> depths;
  for (const std::int64_t layers : kDepths) {
    std::vector<Tensor> seeds;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      manual_seed(seed), seeds.push_back(first_update(placement, layers, kRate, random));
    depths.push_back(stack(seeds));
  }
  return stack(depths);
}

void row(const std::string& name, const Tensor& logs, int digits) {  // [4, 5]
  std::printf("%-9s", name.c_str());
  for (std::int64_t i = 0; i < 4; ++i) std::printf(" %7.*f", digits, logs[i].mean().exp().item());
  // [exponent]
  const Tensor p = (logs[3] - logs[0]) / std::log(48.0 / 6);
  // [/exponent]
  std::printf("   L^%.1f (%.1f to %.1f)\n", p.mean().item(), p.min().item(), p.max().item());
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  const char* const heads = "          6 blocks     12      24      48   goes as (lowest to highest seed)\n";
  std::vector<nn::Placement> placements = {nn::pre_ln(), nn::post_ln(), nn::admin(), nn::deep_norm()};
  std::vector<Tensor> logs;
  for (const nn::Placement& placement : placements) logs.push_back(all_depths(placement));
  std::printf("How far one update of Adam moves the logits, over its rate, geometric means of 5 seeds:\n\n%s",
              heads);
  for (std::size_t i = 0; i < 4; ++i) row(placements[i].name, logs[i].select(2, 1), 0);
  std::printf("\nThe norm of the gradient from which the update was computed:\n\n%s", heads);
  for (std::size_t i = 0; i < 4; ++i) row(placements[i].name, logs[i].select(2, 0), 1);
  std::printf("\nExercise 2, Post-LN with 48 blocks, the same means:\n");
  for (const double rate : {1e-8, 1e-6, 1e-4, 1e-2}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      manual_seed(seed), sum += first_update(nn::post_ln(), 48, rate)[1].item();
    std::printf("  rate %-7g %8.0f times the rate\n", rate, std::exp(sum / 5));
  }
  std::printf("\nExercise 3, Pre-LN with smaller branches, as the first table:\n\n%s", heads);
  row("divided", all_depths(nn::placement<Divided>({.final_norm = true})).select(2, 1), 0);
  row("GPT-2's", all_depths(gpt2_weights()).select(2, 1), 0);
  std::printf("\nExercise 5, steps of random signs, as the first table:\n\n%s", heads);
  for (const auto& p : {nn::pre_ln(), nn::post_ln()}) row(p.name, all_depths(p, true).select(2, 1), 0);
}
