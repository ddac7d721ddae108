// A small Transformer learns to count: Pre-LN and Post-LN from the same weights, on the same batches. Prints
// a line for each step, both losses, and what a step takes. Compiled for this machine and for WebAssembly, to
// compare numbers and times (docs/browser.md). The first argument is the number of steps.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"

using namespace gradus;

namespace {

constexpr std::int64_t kVocab = 32, kBatch = 8, kTokens = 32;

struct Run {
  nn::GPT model;
  optim::Adam adam;

  explicit Run(const nn::Placement& placement)
      : model((manual_seed(1), nn::GPTOptions{.vocab = kVocab,
                                              .context = kTokens,
                                              .layers = 6,
                                              .placement = placement,
                                              .block = {.d_model = 32, .heads = 4}})),
        adam(model.parameters(), {.lr = 1e-3}) {}

  double step(const Tensor& ids, const Tensor& next) {
    adam.zero_grad();
    const Tensor loss = model.loss(ids, next);
    loss.backward();
    adam.step();
    return loss.item();
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  Run runs[] = {Run(nn::pre_ln()), Run(nn::post_ln())};
  std::vector<double> milliseconds[2];
  for (int step = 0; step < steps; ++step) {
    // Rows count up from random numbers by random strides.
    const Tensor first = randint(0, kVocab, {kBatch, 1}), stride = randint(1, 4, {kBatch, 1});
    const Tensor rows = remainder(first + stride * arange(kTokens + 1), kVocab);
    const Tensor ids = rows.slice(1, 0, kTokens), next = rows.slice(1, 1, kTokens + 1);
    double losses[2];
    for (int i = 0; i < 2; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      losses[i] = runs[i].step(ids, next);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      milliseconds[i].push_back(took.count());
    }
    std::printf("%d %.9g %.9g\n", step, losses[0], losses[1]);
  }
  std::fprintf(stderr, "%s: Pre-LN %.2f ms a step, Post-LN %.2f ms\n", name(current_isa()),
               median(milliseconds[0]), median(milliseconds[1]));
}
