#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "lab/studies/start/start.h"
#include "lab/training/trial.h"

namespace gradus::lab::start {

namespace {

constexpr std::int64_t kEvery = 10;  // steps between two measurements of sizes

/// Root mean squares of one forward pass.
struct Sizes {
  std::vector<double> blocks;  // of each block's output
  double branch = 0;           // mean over all branches
  double output = 0;           // of the logits
};

/// "layers.3": a block; "layers.3.self_attn" and "layers.3.linear2": its branches.
bool is_block(const std::string& path) {
  const std::size_t dot = path.rfind("layers.");
  return dot != std::string::npos && path.find('.', dot + 7) == std::string::npos;
}

Sizes sizes_of(const nn::GPT& model, const Tensor& ids) {
  const NoGrad guard;
  Sizes sizes;
  double branches = 0;
  std::int64_t count = 0;
  const nn::ForwardHook hook = model.on_forward([&](const nn::Module& module, const Tensor& y) {
    const std::string path = module.path();
    if (is_block(path) && module.kind() != "FFN")
      sizes.blocks.push_back(rms(y));  // an FFN has its block's path
    if (path.ends_with(".self_attn") || path.ends_with(".linear2")) branches += rms(y), ++count;
  });
  sizes.output = rms(model(ids));
  check(std::ssize(sizes.blocks) == model.options().layers && count == 2 * model.options().layers,
        "start: saw {} blocks and {} branches of {} layers", sizes.blocks.size(), count,
        model.options().layers);
  sizes.branch = branches / static_cast<double>(count);
  return sizes;
}

double square(double x) { return x * x; }

/// The gradients of one step, block by block.
void add_gradients(Measured& measured, const nn::GPT& model) {
  double spread = 0;
  constexpr const char* kNames[] = {"self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight",
                                    "linear2.weight"};
  for (const char* const name : kNames) {
    std::vector<double> norms;
    for (const nn::AnyBlock& block : model.transformer.layers)
      norms.push_back(block.parameter(name).grad().norm().item());
    const auto [low, high] = std::minmax_element(norms.begin(), norms.end());
    spread += std::log(*high / *low) / static_cast<double>(std::size(kNames));
    measured.numbers["share"] = norms.front() / norms.back();  // the last is linear2's
  }
  measured.numbers["spread"] = spread;
}

void add_blocks(Measured& measured, const Sizes& sizes) {
  measured.numbers["size.first"] = square(sizes.blocks.front());
  measured.numbers["size.half"] = square(sizes.blocks[(sizes.blocks.size() - 1) / 2]);
  measured.numbers["size.last"] = square(sizes.blocks.back());
  for (const double block : sizes.blocks) measured.series["sizes"].push_back(square(block));
}

/// The number of measurements up to kEarly steps: the first, and one every kEvery.
double early_mean(const std::vector<double>& looks) {
  const std::size_t count = std::min<std::size_t>(looks.size(), 1 + kEarly / kEvery);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += looks[i] / static_cast<double>(count);
  return sum;
}

}  // namespace

double rms(const Tensor& x) { return std::sqrt(x.detach().square().mean().item()); }

Measured measure_trained(const std::string& placement, std::uint64_t seed, std::int64_t steps) {
  TrialOptions options{.placement = placement_of(placement), .layers = kTrainedLayers};
  options.lr = 1e-3;
  options.warmup = 100;
  options.steps = steps;
  options.seed = seed;
  const Task& task = recall_task();
  nn::GPT model = new_model(task, options);
  const Tensor ids = task.validation().inputs.slice(0, 0, kWindows);
  Measured measured;  // the numbers at kEarly are NaN for a run that diverges before
  for (const char* name : {"spread", "share", "size.first", "size.half", "size.last"})
    measured.numbers[name] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> stream, branch, output;
  const TrialResult result = train(task, model, options, [&](const TrialStep& step) {
    if (step.step % kEvery != 0 && step.step != 1) return;
    const Sizes sizes = sizes_of(step.model, ids);
    stream.push_back(sizes.blocks.back());
    branch.push_back(sizes.branch);
    output.push_back(sizes.output);
    if (step.step != kEarly) return;
    add_gradients(measured, step.model);
    add_blocks(measured, sizes);
  });
  measured.numbers["stream"] = early_mean(stream);
  measured.numbers["branch"] = early_mean(branch);
  measured.numbers["output"] = early_mean(output);
  measured.numbers["loss"] = result.final_loss;
  measured.series["streams"] = stream;
  measured.series["branches"] = branch;
  measured.series["outputs"] = output;
  return measured;
}

}  // namespace gradus::lab::start
