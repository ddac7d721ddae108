// A tiny GPT learns to copy and to recall, then generates, with and without a cache.
// Its chapter: docs/course/21_tiny_gpt/README.md
#include <cmath>
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

namespace {
// [tasks]
// 22 tokens: boxes 0 1 2 3, four things for each of them (a to p), and two that name the task.
constexpr char kNames[] = "0123abcdefghijklmnop=?";

/// =dkacdbkadkacdbka: eight things, and the same again. [B, 17]
Tensor copies(std::int64_t B) {
  const Tensor things = randint(4, 20, {B, 8});
  return cat({full({B, 1}, 20), things, things}, 1);
}
/// ?2k0b2k3n0b1g2k3n: a box, the thing in it, and so on; the thing stays in its box. [B, 17]
Tensor recalls(std::int64_t B) {
  const Tensor boxes = randint(0, 4, {B, 8}), inside = 4 + 4 * arange(4) + randint(0, 4, {B, 4});
  return cat({full({B, 1}, 21), stack({boxes, gather(inside, 1, boxes)}, 2).reshape({B, 16})}, 1);
}
// [/tasks]

// [loss]
/// The loss of the predictable tokens: the second half of a copy (from 8 on), every thing after its box.
Tensor loss(const nn::GPT& gpt, const Tensor& ids, std::int64_t from, std::int64_t step) {
  const Tensor next = full({ids.size(0), 16}, -100);  // -100: not in the loss
  next.slice(1, from, 16, step) = ids.slice(1, from + 1, 17, step);
  return gpt.loss(ids.slice(1, 0, 16), next);
}
Tensor copy_loss(const nn::GPT& gpt, const Tensor& ids) { return loss(gpt, ids, 8, 1); }
Tensor recall_loss(const nn::GPT& gpt, const Tensor& ids) { return loss(gpt, ids, 1, 2); }
// [/loss]

// [train]
nn::GPT train(std::uint64_t seed) {
  manual_seed(seed);
  const nn::GPT gpt({.vocab = 22, .context = 17, .layers = 2, .block = {.d_model = 32, .heads = 4}});
  for (const auto& [name, w] : gpt.named_parameters())  // GPT-2's 0.02 is small in 32 channels
    if (w.dim() == 2) nn::init::normal_(w, 0, 1 / std::sqrt(double(w.size(1))));
  optim::Adam opt(gpt.parameters(), {.lr = optim::warmup_cosine(0.005, 50, 500)});
  for (int step = 0; step < 500; ++step) {
    opt.zero_grad();
    (copy_loss(gpt, copies(16)) + loss(gpt, recalls(16), 0, 1)).backward();
    opt.step();
  }
  return gpt;
}
// [/train]

/// The share of copies whose eight tokens it writes without a mistake.
double copied(const nn::GPT& gpt, const Tensor& ids, const nn::GenerateOptions& options) {
  const Tensor written = gpt.generate(ids.slice(1, 0, 9), 8, options);
  return all(written == ids, -1).to(f64).mean().item();
}

/// The share of last things that are right, where the box was named before.
double recalled(const nn::GPT& gpt, const Tensor& ids) {
  const Tensor written = gpt.generate(ids.slice(1, 0, 16), 1, {.greedy = true});
  const Tensor seen = any(ids.slice(1, 1, 15, 2) == ids.slice(1, 15, 16), -1).to(f64);
  return ((written == ids).select(1, 16).to(f64) * seen).sum().item() / seen.sum().item();
}

void print(const char* what, const Tensor& ids) {
  std::string text;
  for (const std::int64_t id : ids.to_vector<std::int64_t>()) text += kNames[id];
  std::printf("  %-22s%s\n", what, text.c_str());
}

void writing(const nn::GPT& gpt) {
  const Tensor c = copies(1000), r = recalls(3);
  std::printf("\nIt is given nine tokens and writes eight:\n");
  print("to be copied", c[0]);
  print("greedy", gpt.generate(c[0].slice(0, 0, 9), 8, {.greedy = true}));
  print("temperature 4", gpt.generate(c[0].slice(0, 0, 9), 8, {.temperature = 4}));
  print("boxes, greedy", gpt.generate(r[0].slice(0, 0, 9), 8, {.greedy = true}));
  print("boxes, temperature 1", gpt.generate(r[0].slice(0, 0, 9), 8));
  std::printf("Copies without a mistake: greedy %.0f%%", 100 * copied(gpt, c, {.greedy = true}));
  for (const double t : {1.0, 2.0, 4.0})
    std::printf(", temperature %.0f %.0f%%", t, 100 * copied(gpt, c, {.temperature = t}));
  std::printf("\nTemperature 4 from the two likeliest tokens alone: %.0f%%\n",
              100 * copied(gpt, c, {.temperature = 4, .top_k = 2}));
  const Tensor with = gpt.generate(c.slice(1, 0, 9), 8, {.greedy = true});
  const Tensor without = gpt.generate(c.slice(1, 0, 9), 8, {.greedy = true, .cache = false});
  std::printf(
      "\nWith a key-value cache 9 + 7 = 16 rows a layer, without 9 + 10 + ... + 16 = 100; tokens: %s\n",
      equal(with, without) ? "equal" : "different");
}

}  // namespace

int main() {
  const DefaultDType dtype(f64);
  double floor = 0;  // the i-th pair's box is a new one with probability (3/4)^i: then its thing costs ln 4
  for (int i = 0; i < 8; ++i) floor += std::pow(0.75, i) * std::log(4.0) / 8;
  std::printf(
      "The lowest loss that can be expected: copy 0, recall %.2f. After 500 steps:\n"
      "  seed    copy: loss   right     recall: loss   right\n",
      floor);
  for (const std::uint64_t seed : {2U, 1U, 0U}) {
    const nn::GPT gpt = train(seed);
    const NoGrad guard;
    const Tensor c = copies(1000), r = recalls(1000);
    std::printf("  %4d  %12.2f %6.0f%% %16.2f %6.0f%%\n", int(seed), copy_loss(gpt, c).item(),
                100 * copied(gpt, c, {.greedy = true}), recall_loss(gpt, r).item(), 100 * recalled(gpt, r));
    if (seed == 0) writing(gpt);
  }
}
