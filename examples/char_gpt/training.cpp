#include "char_gpt/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "char_gpt/profiling.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"

namespace gradus::char_gpt {

namespace {

constexpr std::int64_t kTimedSteps = 10;  // before the time is estimated
constexpr std::int64_t kReports = 10;     // lines a training prints
constexpr std::int64_t kEvaluated = 64;   // windows of one evaluation batch

/// Decay shrinks what multiplies (matrices, embeddings), not gains and biases.
std::vector<optim::ParameterGroup> groups(const nn::GPT& model) {
  std::vector<Tensor> matrices, vectors;
  for (const Tensor& parameter : model.parameters())
    (parameter.dim() >= 2 ? matrices : vectors).push_back(parameter);
  return {{.parameters = matrices}, {.parameters = vectors, .weight_decay = 0}};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void train(const nn::GPT& model, const kit::TextData& text, const Options& o) {
  if (o.steps == 0) return;
  const auto schedule = o.steps > o.warmup ? optim::warmup_cosine(o.lr, o.warmup, o.steps, o.least_lr)
                                           : optim::warmup_linear(o.lr, o.warmup);
  optim::AdamW opt(groups(model), {.lr = schedule, .betas = {0.9, 0.99}, .weight_decay = o.weight_decay});
  Generator data(static_cast<std::uint64_t>(o.seed), /*stream=*/1);
  // [range]
  const auto draw_batch = [&] {
    const ProfileRange range("batch");
    return kit::random_windows(text.train, o.batch, o.context, data);
  };
  // [/range]
  const std::vector<Tensor> parameters = model.parameters();
  const auto start = std::chrono::steady_clock::now();
  kit::Progress progress("training", static_cast<double>(o.steps));
  model.train();
  const auto loss_of = [&](const kit::Windows& batch) { return model.loss(batch.inputs, batch.targets); };
  if (model.options().placement == nn::admin()) nn::profile_admin_([&] { loss_of(draw_batch()); });
  StepProfiler profiler(o.profile, o.trace);
  for (std::int64_t step = 1; step <= o.steps && !kit::interrupted(); ++step) {
    profiler.before_step(step);
    const Tensor loss = loss_of(draw_batch());
    opt.zero_grad();
    loss.backward();
    optim::clip_grad_norm(parameters, o.clip);
    opt.step();
    profiler.after_step(step);
    const double value = loss.item();
    if (!std::isfinite(value))
      throw Error(
          fmt::format("char_gpt: the loss of step {} is {}: nothing is saved; try a smaller --lr or a longer "
                      "--warmup",
                      step, value));
    progress.update(static_cast<double>(step), fmt::format("loss {:.3f}", value));
    if (step == std::min(kTimedSteps, o.steps))
      kit::print(fmt::format("{} steps will take about {}\n", o.steps,
                             kit::human_duration(seconds_since(start) / static_cast<double>(step) *
                                                 static_cast<double>(o.steps))));
    if (step % std::max<std::int64_t>(1, o.steps / kReports) == 0)
      kit::print(fmt::format("step {:>6}  loss {:.4f}  lr {:.2e}\n", step, value, opt.lr()));
  }
  if (!kit::interrupted()) progress.finish();
  profiler.finish();
  model.eval();
  for (const auto& [name, weight] : model.named_parameters())
    if (!std::isfinite(weight.detach().abs().max().item()))
      throw Error(
          fmt::format("char_gpt: {} is no longer finite: nothing is saved; try a smaller --lr or a longer "
                      "--warmup",
                      name));
}

double loss_over(const nn::GPT& model, std::span<const std::int32_t> tokens) {
  const NoGrad no_grad;
  const nn::EvalMode eval(model);
  const std::int64_t context = model.options().context;
  const std::vector<std::int64_t> starts =
      kit::side_by_side(static_cast<std::int64_t>(tokens.size()), context);
  double total = 0;
  for (std::size_t i = 0; i < starts.size(); i += kEvaluated) {
    const std::size_t count = std::min<std::size_t>(kEvaluated, starts.size() - i);
    const kit::Windows windows = kit::windows_at(tokens, std::span(starts).subspan(i, count), context);
    total += model.loss(windows.inputs, windows.targets).item() * static_cast<double>(count);
  }
  return total / static_cast<double>(starts.size());
}

}  // namespace gradus::char_gpt
