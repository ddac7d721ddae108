#include "lab/studies/norms/shift.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/norms/norms.h"

namespace gradus::lab::norms {

Moments moments_of(const Tensor& tokens) {
  const Tensor rows = tokens.detach().reshape({-1, tokens.size(-1)});
  return {rows.mean(0), sqrt(rows.var(0, {.unbiased = false}))};
}

double input_shift(const Moments& now, const Moments& before) {
  const Tensor m = now.mean - before.mean, s = now.deviation - before.deviation;
  return std::log10((m * m + s * s).sum().item() / (before.deviation * before.deviation).sum().item()) / 2;
}

double gradient_change(const std::vector<Tensor>& now, const std::vector<Tensor>& before) {
  double moved = 0, size = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Tensor d = now[i] - before[i];
    moved += (d * d).sum().item();
    size += (before[i] * before[i]).sum().item();
  }
  return std::log10(moved / size) / 2;
}

namespace {

constexpr std::int64_t kEvery = 20, kDocuments = 64;

/// The block of a parameter; -1 for none.
std::int64_t block_of(const std::string& name) {
  return name.starts_with("layers.") ? std::stoll(name.substr(7)) : -1;
}

class ShiftMeter {
 public:
  explicit ShiftMeter(const TrialOptions& options)
      : layers_(options.layers),
        twin_(new_model(tiny_task(), options)),
        inputs_(tiny_task().validation().inputs.slice(0, 0, kDocuments)),
        targets_(tiny_task().validation().targets.slice(0, 0, kDocuments)) {}

  void before_update(const nn::GPT& model) { before_ = model.state_dict().clone(); }

  void after_update(const nn::GPT& model) {
    const StateDict after = model.state_dict();
    twin_.load_state_dict(before_);
    const std::vector<Moments> old_inputs = run();
    const std::vector<Gradient> old_gradients = gradients();
    std::vector<double> moved;
    for (std::int64_t layer = 1; layer < layers_; ++layer) {
      move_block(layer - 1, after);  // the blocks below it have already moved
      run();
      moved.push_back(gradient_change(gradients()[at(layer)], old_gradients[at(layer)]));
    }
    gradient_changes.push_back(mean(moved));
    twin_.load_state_dict(after);
    const std::vector<Moments> new_inputs = run();
    std::vector<double> shifts;
    for (std::size_t l = 0; l < old_inputs.size(); ++l)
      shifts.push_back(input_shift(new_inputs[l], old_inputs[l]));
    input_changes.push_back(mean(shifts));
  }

  // log10, the mean over the layers, one entry per measurement.
  std::vector<double> input_changes, gradient_changes;

 private:
  using Gradient = std::vector<Tensor>;

  static std::size_t at(std::int64_t layer) { return static_cast<std::size_t>(layer); }

  /// Forward and backward; the moments of each FFN's input.
  std::vector<Moments> run() {
    std::vector<Moments> inputs;
    const nn::ForwardHook hook = twin_.on_forward([&](const nn::Module& module, const Tensor& y) {
      if (!std::string(module.path()).ends_with(".norm2")) return;
      inputs.push_back(moments_of(y));
    });
    twin_.zero_grad();
    twin_.loss(inputs_, targets_).backward();
    return inputs;
  }

  std::vector<Gradient> gradients() const {
    std::vector<Gradient> all(at(layers_));
    for (const auto& [name, w] : twin_.named_parameters())
      if (const std::int64_t block = block_of(name); block >= 0) all[at(block)].push_back(w.grad().clone());
    return all;
  }

  void move_block(std::int64_t block, const StateDict& after) const {
    const NoGrad guard;
    for (const auto& [name, w] : twin_.named_parameters())
      if (block_of(name) == block) w.copy_(after.at(name));
  }

  std::int64_t layers_;
  nn::GPT twin_;
  Tensor inputs_, targets_;
  StateDict before_;
};

}  // namespace

Measured measure_shift(const Kind& kind, std::int64_t steps, std::uint64_t seed) {
  TrialOptions options = tiny_trial(steps);
  options.block.norm = kind.make;
  options.layers = 6;
  options.lr = kShiftRate;
  options.seed = seed;
  nn::GPT model = new_model(tiny_task(), options);
  ShiftMeter meter(options);
  const TrialResult result = train(tiny_task(), model, options, [&](const TrialStep& step) {
    if (step.step % kEvery == 0) meter.before_update(step.model);
    if (step.step % kEvery == 1 && step.step > 1) meter.after_update(step.model);
  });
  Measured measured = measured_of(result);
  measured.numbers["inputs"] = mean(meter.input_changes);
  measured.numbers["gradients"] = mean(meter.gradient_changes);
  measured.series["inputs_by_step"] = meter.input_changes;
  measured.series["gradients_by_step"] = meter.gradient_changes;
  return measured;
}

}  // namespace gradus::lab::norms
